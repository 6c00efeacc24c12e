package dev.parley.cli;

import dev.parley.protocol.Event;
import dev.parley.protocol.ToolCallId;
import dev.parley.protocol.ToolEvent.ToolComplete;
import dev.parley.protocol.ToolEvent.ToolStart;
import dev.parley.task.Run;
import dev.parley.task.WantedEvents;
import java.util.HashSet;
import java.util.List;

/// Appends events of a run whose tool calls can also be ended by others.
public final class OpenCalls {

  private OpenCalls() {}

  /// Appends the events, without the ends of calls that have been ended meanwhile.
  public static void emit(Run run, List<Event> events) {
    run.emit(
        state -> {
          var open = new HashSet<ToolCallId>();
          state
              .openTask(run.origin().taskId())
              .ifPresent(task -> open.addAll(task.openCalls().keySet()));
          return WantedEvents.of(
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
