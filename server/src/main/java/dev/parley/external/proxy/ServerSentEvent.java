package dev.parley.external.proxy;

import org.jspecify.annotations.Nullable;

/// A server-sent event; `id` is null if the service sends no ids.
public record ServerSentEvent(String event, String data, @Nullable String id) {}
