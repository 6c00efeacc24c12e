package dev.parley.task;

import dev.parley.log.EventLog;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Position;
import dev.parley.protocol.TaskEvent.TaskStatus;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.TaskState;
import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/// Computes how long a task has worked from its events: the time between two of them counts if the
/// task was working and no server was started in between.
final class WorkTime {

  private static final int PAGE = 1_000;

  private WorkTime() {}

  static Duration used(EventLog log, ContextId context, TaskId task, Position created) {
    var used = Duration.ZERO;
    @Nullable Instant last = null;
    var working = false;
    var position = created;
    for (var page = log.read(context, position, PAGE);
        !page.isEmpty();
        page = log.read(context, position, PAGE)) {
      for (var entry : page) {
        if (task.equals(entry.taskId())) {
          var status = entry.event() instanceof TaskStatus s ? s : null;
          if (working && last != null && !recovered(status)) {
            used = used.plus(Duration.between(last, entry.timestamp()));
          }
          last = entry.timestamp();
          if (status != null) {
            working = counts(status.status());
          }
        }
      }
      position = page.getLast().position();
    }
    return used;
  }

  private static boolean recovered(@Nullable TaskStatus status) {
    return status != null && status.facts().recovered();
  }

  private static boolean counts(TaskState state) {
    return switch (state) {
      case WORKING -> true;
      case SUBMITTED, WAITING_SUBTASK, WAITING_INPUT, WAITING_AUTH, COMPLETED, FAILED, CANCELED ->
          false;
    };
  }
}
