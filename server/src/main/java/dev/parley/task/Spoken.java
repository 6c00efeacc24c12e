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

/// What a task has said so far, block by block, and what it has taken, read back from the log. For one thread.
final class Spoken {

  private static final int PAGE = 1_000;

  private final Map<BlockId, StringBuilder> blocks = new LinkedHashMap<>();
  private final Map<BlockId, StringBuilder> below = new LinkedHashMap<>();
  private final Tally tally;
  private @Nullable String cancelReason;

  private Spoken(TaskId task) {
    this.tally = new Tally(task);
  }

  /// Reads what `task` said after `from`.
  static Spoken read(EventLog log, ContextId context, TaskId task, Position from) {
    var spoken = new Spoken(task);
    var position = from;
    for (var page = log.read(context, position, PAGE);
        !page.isEmpty();
        page = log.read(context, position, PAGE)) {
      for (var entry : page) {
        spoken.tally.add(entry);
        if (task.equals(entry.taskId())) {
          switch (entry.event()) {
            case ContentDelta(var delta, _, var block) when block != null ->
                spoken.blocks.computeIfAbsent(block, _ -> new StringBuilder()).append(delta);
            case ContentComplete(var content, var block, _, _, var replaces, _)
                when block != null -> {
              spoken.blocks.put(block, new StringBuilder(content));
              if (replaces != null) {
                spoken.blocks.remove(replaces);
              }
            }
            case CancelRequested(_, var reason) when reason != null -> spoken.cancelReason = reason;
            default -> {} // Everything else is not text.
          }
        } else if (entry.origin() != null && task.equals(entry.origin().parentTaskId())) {
          spoken.hear(entry.event());
        }
      }
      position = page.getLast().position();
    }
    return spoken;
  }

  /// Text of a task right below.
  private void hear(Event event) {
    switch (event) {
      case ContentDelta(var delta, _, var block) when block != null ->
          below.computeIfAbsent(block, _ -> new StringBuilder()).append(delta);
      case ContentComplete(_, _, _, _, var replaces, _) when replaces != null ->
          below.remove(replaces);
      default -> {} // Everything else is not text.
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

  /// What the task and those below it took until `now`.
  ObjectNode sums(Instant now) {
    return tally.sums(now);
  }

  /// Why somebody asked that the task stop, if they said so.
  Optional<String> cancelReason() {
    return Optional.ofNullable(cancelReason);
  }

  /// All of it, blocks parted by an empty line; what the tasks right below said if it said nothing.
  String text() {
    var own = joined(blocks);
    return own.isEmpty() ? joined(below) : own;
  }

  private static String joined(Map<BlockId, StringBuilder> blocks) {
    return blocks.values().stream()
        .map(StringBuilder::toString)
        .filter(text -> !text.isBlank())
        .collect(Collectors.joining("\n\n"));
  }
}
