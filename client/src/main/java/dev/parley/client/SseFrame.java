package dev.parley.client;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/// One block of an event stream; `data` is empty if there was none.
record SseFrame(@Nullable String id, String event, String data, @Nullable Duration retry) {}
