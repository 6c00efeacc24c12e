package dev.parley.log;

import dev.parley.protocol.BlockId;
import dev.parley.protocol.ContentEvent.ContentComplete;
import dev.parley.protocol.ContentEvent.FinishReason;
import dev.parley.protocol.Event;
import dev.parley.protocol.Json;
import dev.parley.protocol.TaskEvent.TaskComplete;
import dev.parley.protocol.TaskEvent.TaskStatus;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.ToolEvent.Outcome;
import dev.parley.protocol.ToolEvent.ToolComplete;
import java.util.ArrayList;
import java.util.List;

/// The ends of tasks that were open where a fork was cut off: nobody goes on with them in the fork.
final class ForkedEnds {

  private static final String REASON = "forked";

  private ForkedEnds() {}

  /// Closes what the tasks of `state` have open, then ends them, children first.
  ///
  /// The ends of blocks are without text here, since that is in the deltas.
  static List<Draft> of(ContextState state) {
    var drafts = new ArrayList<Draft>();
    for (var task : List.copyOf(state.openTasks()).reversed()) {
      for (var event : events(task)) {
        drafts.add(new Draft(task.origin(), event));
      }
    }
    return drafts;
  }

  private static List<Event> events(OpenTask task) {
    var reason = Json.object().put("reason", REASON);
    if (task.state() == TaskState.COMPLETED) {
      // The cut lies between its success and its last event, and nothing else may follow.
      return List.of(new TaskComplete(null, null, reason));
    }
    var events = new ArrayList<Event>();
    task.openCalls()
        .forEach(
            (call, tool) ->
                events.add(
                    new ToolComplete(
                        call,
                        tool.tool(),
                        false,
                        null,
                        Outcome.CANCELED.wire(),
                        null,
                        Outcome.CANCELED,
                        tool.subagents())));
    task.openBlocks().keySet().forEach(block -> events.add(end(block)));
    events.add(new TaskStatus(TaskState.CANCELED, null, reason));
    return events;
  }

  private static ContentComplete end(BlockId block) {
    return new ContentComplete("", block, FinishReason.CANCELED, true, null, null);
  }

  /// The slot of such an end, which finds its text in the deltas that `before` knows of.
  static Slot withDeltas(Slot slot, ContextState before) {
    var origin = slot.entry().origin();
    if (origin != null
        && slot.entry().event() instanceof ContentComplete end
        && end.blockId() != null) {
      var open = before.openTask(origin.taskId()).orElseThrow().openBlocks().get(end.blockId());
      return open == null ? slot : new Slot(slot.entry(), open.firstSeq(), true, 0);
    }
    return slot;
  }
}
