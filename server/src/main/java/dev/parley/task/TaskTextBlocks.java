package dev.parley.task;

import dev.parley.log.EventLog;
import dev.parley.log.OpenTask;
import dev.parley.protocol.BlockId;
import dev.parley.protocol.ContentEvent.ContentComplete;
import dev.parley.protocol.ContentEvent.ContentDelta;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Event;
import dev.parley.protocol.Position;
import dev.parley.protocol.TaskEvent.CancelRequested;
import dev.parley.protocol.TaskId;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// The text of a task so far, by block, and its totals, read from the log. Not thread-safe.
final class TaskTextBlocks {

  private static final int PAGE = 1_000;

  private final Map<BlockId, StringBuilder> blocks = new LinkedHashMap<>();
  private final Map<BlockId, StringBuilder> childBlocks = new LinkedHashMap<>();
  private final TaskTotals totals;
  private @Nullable String cancelReason;

  private TaskTextBlocks(TaskId task) {
    this.totals = new TaskTotals(task);
  }

  /// Reads the text of `task` after `from`.
  static TaskTextBlocks read(EventLog log, ContextId context, TaskId task, Position from) {
    var taskTextBlocks = new TaskTextBlocks(task);
    var position = from;
    for (var page = log.read(context, position, PAGE);
        !page.isEmpty();
        page = log.read(context, position, PAGE)) {
      for (var entry : page) {
        taskTextBlocks.totals.add(entry);
        if (task.equals(entry.taskId())) {
          switch (entry.event()) {
            case ContentDelta(var delta, _, var block) when block != null ->
                taskTextBlocks
                    .blocks
                    .computeIfAbsent(block, _ -> new StringBuilder())
                    .append(delta);
            case ContentComplete(var content, var block, _, _, var replaces, _)
                when block != null -> {
              taskTextBlocks.blocks.put(block, new StringBuilder(content));
              if (replaces != null) {
                taskTextBlocks.blocks.remove(replaces);
              }
            }
            case CancelRequested(_, var reason) when reason != null ->
                taskTextBlocks.cancelReason = reason;
            default -> {} // Not text.
          }
        } else if (entry.origin() != null && task.equals(entry.origin().parentTaskId())) {
          taskTextBlocks.readChildText(entry.event());
        }
      }
      position = page.getLast().position();
    }
    return taskTextBlocks;
  }

  /// Reads text of a direct subtask.
  private void readChildText(Event event) {
    switch (event) {
      case ContentDelta(var delta, _, var block) when block != null ->
          childBlocks.computeIfAbsent(block, _ -> new StringBuilder()).append(delta);
      case ContentComplete(_, _, _, _, var replaces, _) when replaces != null ->
          childBlocks.remove(replaces);
      default -> {} // Not text.
    }
  }

  /// True if nothing was added to the task's open blocks since this was read.
  boolean covers(OpenTask task) {
    return task.openBlocks().entrySet().stream()
        .allMatch(open -> text(open.getKey()).length() == open.getValue().length());
  }

  String text(BlockId block) {
    var text = blocks.get(block);
    return text == null ? "" : text.toString();
  }

  /// The totals of the task and its descendants until `now`.
  ObjectNode totals(Instant now) {
    return totals.totals(now);
  }

  /// The reason of the cancellation request, if it has one.
  Optional<String> cancelReason() {
    return Optional.ofNullable(cancelReason);
  }

  /// All blocks, separated by empty lines; the text of the direct subtasks if the task itself has
  /// none.
  String text() {
    var own = joined(blocks);
    return own.isEmpty() ? joined(childBlocks) : own;
  }

  private static String joined(Map<BlockId, StringBuilder> blocks) {
    return blocks.values().stream()
        .map(StringBuilder::toString)
        .filter(text -> !text.isBlank())
        .collect(Collectors.joining("\n\n"));
  }
}
