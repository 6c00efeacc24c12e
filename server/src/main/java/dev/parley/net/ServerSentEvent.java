package dev.parley.net;

import org.jspecify.annotations.Nullable;

/// A server-sent event. `event` is its type, or empty; `id` is the last id of the stream, if there
/// was one.
public record ServerSentEvent(String event, String data, @Nullable String id) {}
