package dev.parley.door.a2a;

import dev.parley.a2a.Version;
import java.util.Arrays;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// The JSON-RPC methods, with their names in each version.
enum RpcMethod {
  SEND("message/send", "SendMessage"),
  STREAM("message/stream", "SendStreamingMessage"),
  GET("tasks/get", "GetTask"),
  LIST(null, "ListTasks"),
  CANCEL("tasks/cancel", "CancelTask"),
  SUBSCRIBE("tasks/resubscribe", "SubscribeToTask"),
  PUSH_SET("tasks/pushNotificationConfig/set", "CreateTaskPushNotificationConfig"),
  PUSH_GET("tasks/pushNotificationConfig/get", "GetTaskPushNotificationConfig"),
  PUSH_LIST("tasks/pushNotificationConfig/list", "ListTaskPushNotificationConfigs"),
  PUSH_DELETE("tasks/pushNotificationConfig/delete", "DeleteTaskPushNotificationConfig"),
  CARD("agent/getAuthenticatedExtendedCard", "GetExtendedAgentCard");

  private final @Nullable String early;
  private final String name;

  RpcMethod(@Nullable String early, String name) {
    this.early = early;
    this.name = name;
  }

  /// The name in a version; null if the version does not have the method.
  @Nullable String in(Version version) {
    return version == Version.V1_0 ? name : early;
  }

  static Optional<RpcMethod> named(Version version, String name) {
    return Arrays.stream(values()).filter(method -> name.equals(method.in(version))).findFirst();
  }
}
