package dev.parley.api.a2a;

import dev.parley.a2a.A2aError;
import dev.parley.a2a.A2aException;
import dev.parley.a2a.PushNotificationConfig;
import dev.parley.projection.TaskView;
import java.util.List;

/// Registers the webhooks that receive the updates of tasks.
///
/// The caller of these methods has checked that the client may see the task. All methods throw
/// [A2aException] for requests that cannot be fulfilled.
public interface PushConfigRegistry {

  /// Rejects all registrations.
  PushConfigRegistry NONE = new UnsupportedPushConfigs();

  /// True if push notifications are supported.
  boolean supported();

  /// Rejects a target that is not valid. Called before the task is created.
  void check(PushNotificationConfig target);

  /// Registers a target for a task and returns it with its id. A target with the same id is
  /// replaced. Notifications use the caller's protocol version.
  PushNotificationConfig register(
      A2aCaller a2aCaller, TaskView task, PushNotificationConfig target);

  /// Registers a target that came with the task's first message: it also receives earlier updates.
  PushNotificationConfig registerFromStart(
      A2aCaller a2aCaller, TaskView task, PushNotificationConfig target);

  /// The target with this id; the task's first one if the id is empty.
  PushNotificationConfig find(A2aCaller a2aCaller, TaskView task, String id);

  /// All targets of a task, ordered by id.
  List<PushNotificationConfig> list(A2aCaller a2aCaller, TaskView task);

  /// Removes a target. Does nothing if there is none with this id.
  void delete(A2aCaller a2aCaller, TaskView task, String id);

  /// Throws if push notifications are not supported.
  static void checkSupported(PushConfigRegistry desk) {
    if (!desk.supported()) {
      throw UnsupportedPushConfigs.notSupported();
    }
  }

  /// Rejects all requests: push notifications are not supported.
  final class UnsupportedPushConfigs implements PushConfigRegistry {

    private UnsupportedPushConfigs() {}

    @Override
    public boolean supported() {
      return false;
    }

    @Override
    public void check(PushNotificationConfig target) {
      throw notSupported();
    }

    @Override
    public PushNotificationConfig register(
        A2aCaller a2aCaller, TaskView task, PushNotificationConfig target) {
      throw notSupported();
    }

    @Override
    public PushNotificationConfig registerFromStart(
        A2aCaller a2aCaller, TaskView task, PushNotificationConfig target) {
      throw notSupported();
    }

    @Override
    public PushNotificationConfig find(A2aCaller a2aCaller, TaskView task, String id) {
      throw notSupported();
    }

    @Override
    public List<PushNotificationConfig> list(A2aCaller a2aCaller, TaskView task) {
      throw notSupported();
    }

    @Override
    public void delete(A2aCaller a2aCaller, TaskView task, String id) {
      throw notSupported();
    }

    private static A2aException notSupported() {
      return new A2aException(
          A2aError.PUSH_NOTIFICATION_NOT_SUPPORTED,
          "Push Notification is not supported by this agent");
    }
  }
}
