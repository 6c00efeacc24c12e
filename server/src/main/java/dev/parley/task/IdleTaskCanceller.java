package dev.parley.task;

import dev.parley.protocol.ContextId;
import dev.parley.protocol.TaskId;
import java.util.List;
import java.util.function.Consumer;

/// Ends tasks that are being canceled and are not running, including queued ones.
final class IdleTaskCanceller {

  /// Writes the end of a task. False if that is not possible.
  interface EndWriter {
    boolean write(ContextId context, TaskId task, TaskEnding taskEnding);
  }

  private final RunQueue runQueue;
  private final ResourceReleases resourceReleases;
  private final EndWriter endWriter;
  private final Consumer<ContextId> advance;

  IdleTaskCanceller(
      RunQueue board,
      ResourceReleases resourceReleases,
      EndWriter endWriter,
      Consumer<ContextId> advance) {
    this.runQueue = board;
    this.resourceReleases = resourceReleases;
    this.endWriter = endWriter;
    this.advance = advance;
  }

  /// Ends these tasks. False if there was nothing to do, or other threads do it: when many children
  /// end at the same time, each of them would end the parent.
  boolean end(ContextId context, List<TaskId> stoppable) {
    var ended = false;
    for (var task : stoppable) {
      if (runQueue.preventStartIfIdle(task)) {
        if (holdsResources(context, task)) {
          Thread.ofVirtual().name("release-" + task).start(() -> releaseAndEnd(context, task));
        } else {
          ended |= endAndAllowStart(context, task);
        }
      }
    }
    return ended;
  }

  /// True if the task holds remote resources. If that cannot be determined, the task may be started
  /// again.
  private boolean holdsResources(ContextId context, TaskId task) {
    var told = false;
    try {
      var holds = resourceReleases.find(context, task).isPresent();
      told = true;
      return holds;
    } finally {
      if (!told) {
        runQueue.allowStart(task);
      }
    }
  }

  /// Ends a task that holds remote resources. Releasing them may take a while.
  private void releaseAndEnd(ContextId context, TaskId task) {
    try {
      resourceReleases.release(context, task);
    } finally {
      try {
        endAndAllowStart(context, task);
      } finally {
        advance.accept(context);
      }
    }
  }

  private boolean endAndAllowStart(ContextId context, TaskId task) {
    try {
      return endWriter.write(context, task, TaskEnding.canceled(null));
    } finally {
      runQueue.allowStart(task);
    }
  }
}
