package dev.parley.task;

import dev.parley.protocol.ContextId;
import dev.parley.protocol.TaskId;
import java.util.List;
import java.util.function.Consumer;

/// Ends tasks that are being canceled and are not running, including queued ones.
final class IdleEnds {

  /// Writes the end of a task. False if that is not possible.
  interface End {
    boolean write(ContextId context, TaskId task, Ending ending);
  }

  private final Board board;
  private final Releases releases;
  private final End end;
  private final Consumer<ContextId> advance;

  IdleEnds(Board board, Releases releases, End end, Consumer<ContextId> advance) {
    this.board = board;
    this.releases = releases;
    this.end = end;
    this.advance = advance;
  }

  /// Ends these tasks. False if there was nothing to do, or other threads do it: when many children
  /// end at the same time, each of them would end the parent.
  boolean end(ContextId context, List<TaskId> stoppable) {
    var ended = false;
    for (var task : stoppable) {
      if (board.barIdle(task)) {
        if (holds(context, task)) {
          Thread.ofVirtual().name("release-" + task).start(() -> endHolding(context, task));
        } else {
          ended |= endBarred(context, task);
        }
      }
    }
    return ended;
  }

  /// True if the task holds remote resources. If that cannot be determined, the task may be started
  /// again.
  private boolean holds(ContextId context, TaskId task) {
    var told = false;
    try {
      var holds = releases.of(context, task).isPresent();
      told = true;
      return holds;
    } finally {
      if (!told) {
        board.unbar(task);
      }
    }
  }

  /// Ends a task that holds remote resources. Releasing them may take a while.
  private void endHolding(ContextId context, TaskId task) {
    try {
      releases.letGo(context, task);
    } finally {
      try {
        endBarred(context, task);
      } finally {
        advance.accept(context);
      }
    }
  }

  private boolean endBarred(ContextId context, TaskId task) {
    try {
      return end.write(context, task, Ending.canceled(null));
    } finally {
      board.unbar(task);
    }
  }
}
