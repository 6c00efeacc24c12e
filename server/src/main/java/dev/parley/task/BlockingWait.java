package dev.parley.task;

import dev.parley.log.EventLog;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Entry;
import dev.parley.protocol.Position;
import dev.parley.protocol.TaskEvent.TaskStatus;
import dev.parley.protocol.TaskState;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Predicate;

/// Lets a task wait on its thread, for agents that cannot be called again. Meanwhile another task
/// may use its slot, and its clock is paused if it waits for a person.
final class BlockingWait {

  private static final int PAGE = 1_000;
  private static final Duration POLL_INTERVAL = Duration.ofMinutes(1);

  private final EventLog log;
  private final RunQueue runQueue;
  private final TaskDeadlines taskDeadlines;
  private final Consumer<ContextId> advance;

  BlockingWait(
      EventLog log, RunQueue board, TaskDeadlines taskDeadlines, Consumer<ContextId> advance) {
    this.log = log;
    this.runQueue = board;
    this.taskDeadlines = taskDeadlines;
    this.advance = advance;
  }

  /// Writes that the task waits, and returns the first entry after `after` that `wanted` accepts.
  Entry waitFor(TaskRun taskRun, TaskStatus waiting, Position after, Predicate<Entry> wanted)
      throws InterruptedException {
    var task = taskRun.taskId();
    if (waiting.status() != TaskState.WAITING_SUBTASK) {
      // Before the status is visible, because its readers may rely on the paused clock.
      taskDeadlines.pause(task);
    }
    Entry found;
    try {
      taskRun.emit(List.of(waiting));
      runQueue.markBlocked(task);
      try {
        advance.accept(taskRun.context());
        found = find(taskRun.context(), after, wanted);
      } finally {
        runQueue.markUnblocked(task);
      }
    } finally {
      taskDeadlines.resume(task);
    }
    taskRun.emit(List.of(new TaskStatus(TaskState.WORKING, null, null)));
    return found;
  }

  private Entry find(ContextId context, Position after, Predicate<Entry> wanted)
      throws InterruptedException {
    var position = after;
    while (true) {
      for (var page = log.read(context, position, PAGE);
          !page.isEmpty();
          page = log.read(context, position, PAGE)) {
        for (var entry : page) {
          if (wanted.test(entry)) {
            return entry;
          }
        }
        position = page.getLast().position();
      }
      log.await(context, position, POLL_INTERVAL);
    }
  }
}
