package dev.parley.a2a;

import org.jspecify.annotations.Nullable;

/// Where the updates of a task are pushed to.
///
/// @param id unique among those of the task; the server makes one up if it is missing
/// @param scheme with `credentials`, what the `Authorization` header says
public record PushTarget(
    @Nullable String id,
    @Nullable String taskId,
    String url,
    @Nullable String token,
    @Nullable String scheme,
    @Nullable String credentials,
    @Nullable String tenant) {}
