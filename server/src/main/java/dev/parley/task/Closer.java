package dev.parley.task;

import dev.parley.log.Draft;
import dev.parley.log.EventLog;
import dev.parley.log.Guard;
import dev.parley.log.OpenTask;
import dev.parley.protocol.ContentEvent.ContentComplete;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Event;
import dev.parley.protocol.Json;
import dev.parley.protocol.MessageEvent.Message;
import dev.parley.protocol.MessageEvent.Role;
import dev.parley.protocol.MessageId;
import dev.parley.protocol.Position;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.TaskEvent.TaskStatus;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.ToolCallId;
import dev.parley.protocol.ToolEvent;
import dev.parley.protocol.ToolEvent.ToolComplete;
import java.util.ArrayList;
import java.util.List;

/// Writes the end of a task that does not succeed: closes what it has open, keeps what it said, and
/// says why, in one append.
final class Closer {

  private static final int ATTEMPTS_MAX = 10;

  private final EventLog log;
  private final Sources sources;

  Closer(EventLog log, Sources sources) {
    this.log = log;
    this.sources = sources;
  }

  /// Ends the task, unless it has ended.
  void end(ContextId context, TaskId task, Ending ending) {
    for (var attempt = 1; ; attempt++) {
      try {
        endOnce(context, task, ending);
        return;
      } catch (Rejection.NotFound | Rejection.Gone deleted) {
        return;
      } catch (Rejection.Stale spokeMeanwhile) {
        if (attempt == ATTEMPTS_MAX) {
          throw spokeMeanwhile;
        }
      }
    }
  }

  private void endOnce(ContextId context, TaskId task, Ending ending) {
    var created = log.inspect(context, s -> s.openTask(task).map(OpenTask::createdSeq));
    if (created.isEmpty()) {
      return;
    }
    var spoken = Spoken.read(log, context, task, Position.of(created.get()));
    var message = sources.messageId();
    log.append(
        context,
        Guard.none(),
        state -> {
          var open = state.openTask(task).orElse(null);
          if (open == null) {
            return List.of();
          }
          if (!spoken.covers(open)) {
            throw new Rejection.Stale("the task went on meanwhile: " + task);
          }
          return events(open, ending, spoken, message).stream()
              .map(event -> new Draft(open.origin(), event))
              .toList();
        });
  }

  private static List<Event> events(
      OpenTask open, Ending ending, Spoken spoken, MessageId message) {
    var events = new ArrayList<Event>();
    var reason =
        ending.state() == TaskState.CANCELED
            ? spoken.cancelReason().orElse(ending.reason())
            : ending.reason();
    open.openCalls().forEach((call, tool) -> events.add(closed(call, tool, ending.calls())));
    open.openBlocks()
        .keySet()
        .forEach(
            block ->
                events.add(
                    new ContentComplete(
                        spoken.text(block), block, ending.blocks(), true, null, null)));
    if (ending.error() != null) {
      events.add(ending.error());
    }
    var text = spoken.text();
    if (!text.isEmpty()) {
      var metadata = Json.object().put("partial", true).put("reason", reason);
      events.add(new Message(message, Role.ASSISTANT, text, null, metadata));
    }
    events.add(new TaskStatus(ending.state(), null, Json.object().put("reason", reason)));
    return events;
  }

  /// The end of a call that somebody or something stopped.
  static ToolComplete closed(ToolCallId call, String tool, ToolEvent.Outcome outcome) {
    return new ToolComplete(call, tool, false, null, outcome.wire(), null, outcome, null);
  }
}
