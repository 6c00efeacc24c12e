package dev.parley.api.a2a;

import dev.parley.a2a.PushNotificationConfig;
import dev.parley.protocol.TaskView;
import java.util.List;

/// Registers the webhooks that receive the updates of tasks.
///
/// The caller of these methods has checked that the client may see the task. All methods throw
/// `A2aException` for requests that cannot be fulfilled.
public interface PushConfigRegistry {

  /// Rejects a target that is not valid. Called before the task is created.
  void check(PushNotificationConfig target);

  /// Registers a target for a task and returns it with its id. A target with the same id is
  /// replaced. Notifications use the caller's protocol version.
  PushNotificationConfig register(A2aCaller caller, TaskView task, PushNotificationConfig target);

  /// Registers a target that came with the task's first message: it also receives earlier updates.
  PushNotificationConfig registerFromStart(
      A2aCaller caller, TaskView task, PushNotificationConfig target);

  /// The target with this id; the task's first one if the id is empty.
  PushNotificationConfig find(A2aCaller caller, TaskView task, String id);

  /// All targets of a task, ordered by id.
  List<PushNotificationConfig> list(A2aCaller caller, TaskView task);

  /// Removes a target. Does nothing if there is none with this id.
  void delete(A2aCaller caller, TaskView task, String id);
}
