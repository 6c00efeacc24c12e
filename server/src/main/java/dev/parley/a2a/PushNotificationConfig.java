package dev.parley.a2a;

import org.jspecify.annotations.Nullable;

/// A webhook that receives the updates of a task.
///
/// @param id unique within the task; the server chooses one if it is missing
/// @param scheme the `Authorization` header's scheme, followed by `credentials`
public record PushNotificationConfig(
    @Nullable String id,
    @Nullable String taskId,
    String url,
    @Nullable String token,
    @Nullable String scheme,
    @Nullable String credentials,
    @Nullable String tenant) {}
