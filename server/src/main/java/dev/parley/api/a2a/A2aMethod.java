package dev.parley.api.a2a;

import dev.parley.a2a.A2aVersion;
import java.util.Arrays;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// The JSON-RPC methods, with their names in each version.
enum A2aMethod {
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

  private final @Nullable String earlyName;
  private final String name;

  A2aMethod(@Nullable String early, String name) {
    this.earlyName = early;
    this.name = name;
  }

  /// The name in a version; null if the version does not have the method.
  @Nullable String nameIn(A2aVersion a2aVersion) {
    return a2aVersion == A2aVersion.V1_0 ? name : earlyName;
  }

  static Optional<A2aMethod> find(A2aVersion a2aVersion, String name) {
    return Arrays.stream(values())
        .filter(method -> name.equals(method.nameIn(a2aVersion)))
        .findFirst();
  }
}
