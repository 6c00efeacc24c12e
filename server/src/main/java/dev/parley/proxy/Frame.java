package dev.parley.proxy;

import org.jspecify.annotations.Nullable;

/// An event of a service's stream; `id` is where it stands, if the service says so.
public record Frame(String event, String data, @Nullable String id) {}
