package dev.parley.server;

import dev.parley.log.EventDraft;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Origin;
import dev.parley.protocol.ReportEvent.ErrorReported;
import dev.parley.protocol.ReportEvent.ErrorScope;
import dev.parley.protocol.TaskEvent.TaskStatus;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.List;
import java.util.Objects;

/// Writes one line to the program's log for each task that fails or is canceled: ids, agent, code
/// and reason.
///
/// A line never contains text of messages. The reason is that of the error, which never contains
/// keys.
final class TaskFailureLogger implements MeteredLog.AppendObserver {

  private static final Logger LOG = System.getLogger(TaskFailureLogger.class.getName());
  private static final int REASON_MAX = 300;

  @Override
  public void appended(ContextId context, List<EventDraft> drafts) {
    for (var eventDraft : drafts) {
      if (eventDraft.event() instanceof TaskStatus(var state, _, _)
          && eventDraft.origin() != null) {
        switch (state) {
          case FAILED -> failed(context, eventDraft.origin(), drafts);
          case CANCELED -> log(Level.INFO, "task canceled: " + names(context, eventDraft.origin()));
          default -> {} // The task continues, or has succeeded.
        }
      }
    }
  }

  private static void failed(ContextId context, Origin task, List<EventDraft> drafts) {
    var code = "unknown";
    var reason = "";
    for (var eventDraft : drafts) {
      if (eventDraft.event() instanceof ErrorReported error
          && error.scope() == ErrorScope.TASK
          && eventDraft.origin() != null
          && Objects.equals(eventDraft.origin().taskId(), task.taskId())) {
        code = error.code().wire();
        reason = shortened(error.message());
      }
    }
    // For a sub-task, the parent decides what its failure means.
    var level = task.parentTaskId() == null ? Level.WARNING : Level.INFO;
    log(level, "task failed: " + names(context, task) + " code=" + code + " reason=" + reason);
  }

  private static String names(ContextId context, Origin task) {
    var parent = task.parentTaskId() == null ? "" : " rootTask=" + task.rootTaskId();
    return "context=" + context + " task=" + task.taskId() + parent + " agent=" + task.agentId();
  }

  private static String shortened(String reason) {
    var line = reason.replaceAll("[\\p{Cntrl}\\s]+", " ").strip();
    return line.length() <= REASON_MAX ? line : line.substring(0, REASON_MAX) + "…";
  }

  private static void log(Level level, String line) {
    // Not used as a pattern, because the line contains text from outside.
    LOG.log(level, () -> line);
  }
}
