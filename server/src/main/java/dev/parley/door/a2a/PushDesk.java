package dev.parley.door.a2a;

import dev.parley.a2a.A2aError;
import dev.parley.a2a.A2aException;
import dev.parley.a2a.PushTarget;
import dev.parley.view.TaskView;
import java.util.List;

/// Keeps where the updates of tasks are pushed to.
///
/// Whoever calls may see the task. All methods throw [A2aException] for what cannot be.
public interface PushDesk {

  /// Pushes nothing.
  PushDesk NONE = new NoPushes();

  /// True if something is pushed at all.
  boolean supported();

  /// Refuses a target that could not be kept, before the task exists that it is for.
  void check(PushTarget target);

  /// Keeps a target for a task, and returns it with its id; one with the same id is replaced. What is pushed there
  /// has the form of the caller's version.
  PushTarget keep(Caller caller, TaskView task, PushTarget target);

  /// The same, for a target that came with the task's message: it is also told what has happened already.
  PushTarget keepFromStart(Caller caller, TaskView task, PushTarget target);

  /// The target with this id; the task's first one if the id is empty.
  PushTarget find(Caller caller, TaskView task, String id);

  /// All targets of a task, the oldest first.
  List<PushTarget> list(Caller caller, TaskView task);

  /// Forgets a target. One that is not known is forgotten already.
  void delete(Caller caller, TaskView task, String id);

  /// Refuses to go on if nothing is pushed at all.
  static void checkSupported(PushDesk desk) {
    if (!desk.supported()) {
      throw NoPushes.refusal();
    }
  }

  /// Says that pushes are not supported, to everything.
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
