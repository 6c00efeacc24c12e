package dev.parley.task;

import dev.parley.log.AppendGuard;
import dev.parley.log.EventLog;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.TaskEvent.CancelRequested;
import dev.parley.protocol.TaskId;
import java.time.Duration;
import java.util.List;
import java.util.function.BiConsumer;
import java.util.function.Consumer;

/// Cancels all subtasks of a task, because a task ends only after its subtasks.
final class SubtreeCanceller {

  private final EventLog log;
  private final Duration timeout;
  private final BiConsumer<TaskId, TaskEnding> stop;
  private final Consumer<ContextId> advance;

  SubtreeCanceller(
      EventLog log,
      Duration patience,
      BiConsumer<TaskId, TaskEnding> stop,
      Consumer<ContextId> advance) {
    this.log = log;
    this.timeout = patience;
    this.stop = stop;
    this.advance = advance;
  }

  /// Requests cancellation of all subtasks and waits a limited time for their ends.
  void stop(ContextId context, TaskId task, String reason) {
    if (open(context, task).isEmpty()) {
      return;
    }
    var request = new CancelRequested(null, reason);
    log.append(
        context, AppendGuard.none(), state -> ContextSchedule.cancelBelow(state, task, request));
    open(context, task).forEach(child -> stop.accept(child, TaskEnding.canceled(reason)));
    advance.accept(context);
    try {
      for (var head = log.head(context);
          !open(context, task).isEmpty() && log.await(context, head, timeout);
          head = log.head(context)) {
        // Each event may be the end of the last subtask.
      }
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
    }
  }

  private List<TaskId> open(ContextId context, TaskId task) {
    return log.inspect(
        context,
        state ->
            ContextSchedule.tree(state, task).stream()
                .map(below -> below.origin().taskId())
                .filter(below -> !below.equals(task))
                .toList());
  }
}
