package dev.parley.external.cli;

import dev.parley.protocol.Event;
import dev.parley.protocol.ToolCallId;
import dev.parley.protocol.ToolEvent.ToolComplete;
import dev.parley.protocol.ToolEvent.ToolStart;
import dev.parley.task.AppendFilter;
import dev.parley.task.TaskRun;
import java.util.HashSet;
import java.util.List;

/// Appends events of a run whose tool calls can also be ended by others.
public final class OpenCallAppender {

  private OpenCallAppender() {}

  /// Appends the events, without the ends of calls that have been ended meanwhile.
  public static void emit(TaskRun taskRun, List<Event> events) {
    taskRun.emit(
        state -> {
          var open = new HashSet<ToolCallId>();
          state
              .openTask(taskRun.origin().taskId())
              .ifPresent(task -> open.addAll(task.openCalls().keySet()));
          return AppendFilter.of(
              events,
              event ->
                  switch (event) {
                    case ToolStart start -> open.add(start.toolCallId());
                    case ToolComplete end -> open.remove(end.toolCallId());
                    default -> true; // Other events do not conflict.
                  });
        });
  }
}
