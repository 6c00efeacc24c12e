package dev.parley.door.a2a;

import dev.parley.a2a.A2aError;
import dev.parley.a2a.A2aException;
import dev.parley.a2a.PushTarget;
import dev.parley.view.TaskView;
import java.util.List;

/// Registers the webhooks that receive the updates of tasks.
///
/// The caller of these methods has checked that the client may see the task. All methods throw
/// [A2aException] for requests that cannot be fulfilled.
public interface PushDesk {

  /// Rejects all registrations.
  PushDesk NONE = new NoPushes();

  /// True if push notifications are supported.
  boolean supported();

  /// Rejects a target that is not valid. Called before the task is created.
  void check(PushTarget target);

  /// Registers a target for a task and returns it with its id. A target with the same id is
  /// replaced. Notifications use the caller's protocol version.
  PushTarget keep(Caller caller, TaskView task, PushTarget target);

  /// Registers a target that came with the task's first message: it also receives earlier updates.
  PushTarget keepFromStart(Caller caller, TaskView task, PushTarget target);

  /// The target with this id; the task's first one if the id is empty.
  PushTarget find(Caller caller, TaskView task, String id);

  /// All targets of a task, ordered by id.
  List<PushTarget> list(Caller caller, TaskView task);

  /// Removes a target. Does nothing if there is none with this id.
  void delete(Caller caller, TaskView task, String id);

  /// Throws if push notifications are not supported.
  static void checkSupported(PushDesk desk) {
    if (!desk.supported()) {
      throw NoPushes.refusal();
    }
  }

  /// Rejects all requests: push notifications are not supported.
  final class NoPushes implements PushDesk {

    private NoPushes() {}

    @Override
    public boolean supported() {
      return false;
    }

    @Override
    public void check(PushTarget target) {
      throw refusal();
    }

    @Override
    public PushTarget keep(Caller caller, TaskView task, PushTarget target) {
      throw refusal();
    }

    @Override
    public PushTarget keepFromStart(Caller caller, TaskView task, PushTarget target) {
      throw refusal();
    }

    @Override
    public PushTarget find(Caller caller, TaskView task, String id) {
      throw refusal();
    }

    @Override
    public List<PushTarget> list(Caller caller, TaskView task) {
      throw refusal();
    }

    @Override
    public void delete(Caller caller, TaskView task, String id) {
      throw refusal();
    }

    private static A2aException refusal() {
      return new A2aException(
          A2aError.PUSH_NOTIFICATION_NOT_SUPPORTED,
          "Push Notification is not supported by this agent");
    }
  }
}
