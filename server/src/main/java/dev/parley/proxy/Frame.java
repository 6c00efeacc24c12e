package dev.parley.proxy;

import org.jspecify.annotations.Nullable;

/// A server-sent event; `id` is null if the service sends no ids.
public record Frame(String event, String data, @Nullable String id) {}
