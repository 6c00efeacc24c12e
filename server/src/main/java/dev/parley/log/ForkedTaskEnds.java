package dev.parley.log;

import dev.parley.protocol.BlockId;
import dev.parley.protocol.ContentEvent.ContentComplete;
import dev.parley.protocol.ContentEvent.FinishReason;
import dev.parley.protocol.Event;
import dev.parley.protocol.StatusFacts;
import dev.parley.protocol.TaskEvent.TaskComplete;
import dev.parley.protocol.TaskEvent.TaskStatus;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.ToolEvent.Outcome;
import dev.parley.protocol.ToolEvent.ToolComplete;
import java.util.ArrayList;
import java.util.List;

/// The events that end the tasks that were open at the fork position: a fork does not continue
/// them.
final class ForkedTaskEnds {

  private static final String REASON = "forked";

  private ForkedTaskEnds() {}

  /// Closes the open tool calls and text blocks of the tasks in `state`, then ends the tasks,
  /// children first.
  ///
  /// The ends of blocks have no text here, since the deltas contain it.
  static List<EventDraft> of(ContextState state) {
    var drafts = new ArrayList<EventDraft>();
    for (var task : List.copyOf(state.openTasks()).reversed()) {
      for (var event : events(task)) {
        drafts.add(new EventDraft(task.origin(), event));
      }
    }
    return drafts;
  }

  private static List<Event> events(OpenTask task) {
    var reason = StatusFacts.ofEnd(REASON);
    if (task.state() == TaskState.COMPLETED) {
      // The fork position is between the `completed` status and `task-complete`; nothing else may
      // follow.
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

  /// The same entry with a reference to the deltas that contain its text, as recorded in `before`.
  static StoredEntry withDeltas(StoredEntry storedEntry, ContextState before) {
    var origin = storedEntry.entry().origin();
    if (origin != null
        && storedEntry.entry().event() instanceof ContentComplete end
        && end.blockId() != null) {
      var open = before.openTask(origin.taskId()).orElseThrow().openBlocks().get(end.blockId());
      return open == null
          ? storedEntry
          : new StoredEntry(storedEntry.entry(), open.firstSeq(), true, 0);
    }
    return storedEntry;
  }
}
