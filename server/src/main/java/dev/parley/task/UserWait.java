package dev.parley.task;

import dev.parley.log.ContextState;
import dev.parley.log.OpenTask;
import dev.parley.protocol.TaskId;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// Determines whether tasks wait for a person. The task clock and every API use it, so that they
/// agree.
public final class UserWait {

  private UserWait() {}

  /// True if a question is open, and neither the task nor any of its descendants can continue
  /// before an answer.
  ///
  /// A task that is being canceled can continue, and so can a task that has received an answer, or
  /// whose question goes to a parent agent first.
  public static boolean blocksTree(ContextState state, TaskId top) {
    var tree = ContextSchedule.tree(state, top);
    var ids = tree.stream().map(task -> task.origin().taskId()).collect(Collectors.toSet());
    return tree.stream().allMatch(UserWait::isParked) && askers(state).anyMatch(ids::contains);
  }

  /// True if this task waits for a person: it has an open question and cannot continue before an
  /// answer.
  public static boolean blocksTask(ContextState state, TaskId task) {
    return state.openTask(task).filter(UserWait::isParked).isPresent()
        && askers(state).anyMatch(task::equals);
  }

  private static boolean isParked(OpenTask task) {
    return task.state().waiting() && !task.woken() && !task.cancelRequested();
  }

  private static Stream<TaskId> askers(ContextState state) {
    return Stream.concat(
        state.openInputs().stream().map(open -> open.task()),
        state.openAuths().stream().map(open -> open.task()));
  }
}
