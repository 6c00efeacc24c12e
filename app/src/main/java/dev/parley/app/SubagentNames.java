package dev.parley.app;

import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.ContentEvent.ContentComplete;
import dev.parley.protocol.ContentEvent.ContentDelta;
import dev.parley.protocol.Entry;
import dev.parley.protocol.TaskId;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// The sub-agents of a task: the name and depth of each, and its text that is not printed yet.
///
/// Text is returned in complete lines, so that the output of parallel sub-agents does not mix. For
/// one thread.
final class SubagentNames {

  private final TaskId root;
  private final Map<TaskId, String> names = new HashMap<>();
  private final Map<TaskId, Integer> depths = new HashMap<>();
  private final Map<TaskId, StringBuilder> pendingText = new HashMap<>();
  private final Set<String> usedNames = new HashSet<>();

  SubagentNames(TaskId root) {
    this.root = root;
  }

  /// The name of a sub-agent: that of its agent type, with a number if the name is already used.
  String assignName(TaskId task, @Nullable AgentTypeId agent, @Nullable TaskId parent) {
    depths.computeIfAbsent(task, _ -> parent == null ? 1 : depth(parent) + 1);
    return names.computeIfAbsent(
        task,
        _ -> {
          var name = agent == null ? "sub-agent" : agent.value();
          var unique = name;
          for (var number = 2; !usedNames.add(unique); number++) {
            unique = name + "#" + number;
          }
          return unique;
        });
  }

  /// The prefix of a line about this entry; empty for the root task.
  String prefix(Entry entry) {
    var origin = entry.origin();
    if (origin == null || origin.taskId().equals(root)) {
      return "";
    }
    var name = assignName(origin.taskId(), origin.agentId(), origin.parentTaskId());
    return "  ".repeat(depth(origin.taskId())) + name + ": ";
  }

  /// The lines that this piece of text completes.
  List<String> addText(Entry entry, ContentDelta delta) {
    var text =
        pendingText.computeIfAbsent(task(entry), _ -> new StringBuilder()).append(delta.delta());
    var end = text.lastIndexOf("\n");
    if (end < 0) {
      return List.of();
    }
    var lines = text.substring(0, end).lines().toList();
    text.delete(0, end + 1);
    return lines;
  }

  /// The remaining lines when a block ends.
  List<String> endBlock(Entry entry, ContentComplete complete) {
    var text = pendingText.remove(task(entry));
    var rest = text == null ? complete.content() : text.toString();
    return rest.lines().toList();
  }

  private TaskId task(Entry entry) {
    var task = entry.taskId();
    return task == null ? root : task;
  }

  private int depth(TaskId task) {
    return depths.getOrDefault(task, 0);
  }
}
