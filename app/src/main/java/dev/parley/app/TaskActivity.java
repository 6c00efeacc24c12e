package dev.parley.app;

import dev.parley.protocol.ContentEvent.ContentDelta;
import dev.parley.protocol.Entry;
import dev.parley.protocol.SubtaskEvent.SubtaskComplete;
import dev.parley.protocol.SubtaskEvent.SubtaskCreated;
import dev.parley.protocol.TaskEvent.TaskStatus;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.ToolEvent.ToolComplete;
import dev.parley.protocol.ToolEvent.ToolStart;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// The agents and tools that are at work in a task and its subtasks: a fold of the task's events.
/// For one thread.
final class TaskActivity {

  private static final int NAME_MAX = 40;
  private static final int REASON_MAX = 60;
  private static final int SHOWN_MAX = 3;

  /// A task that has not ended.
  private static final class ActiveTask {
    private final @Nullable TaskId parent;
    private String agent;
    private final Map<String, String> tools = new LinkedHashMap<>();
    private @Nullable String retry;
    private @Nullable String state;

    ActiveTask(@Nullable TaskId parent, String agent) {
      this.parent = parent;
      this.agent = agent;
    }
  }

  private final TaskId root;
  private final Map<TaskId, ActiveTask> open = new LinkedHashMap<>();

  TaskActivity(TaskId root) {
    this.root = root;
    open.put(root, new ActiveTask(null, ""));
  }

  void add(Entry entry) {
    var task = entry.taskId();
    var activeTask = task == null ? null : open.get(task);
    if (activeTask == null) {
      return;
    }
    if (entry.origin() != null && entry.origin().agentId() != null) {
      activeTask.agent = entry.origin().agentId().value();
    }
    // The next event of a task shows that its retry has started.
    activeTask.retry = null;
    switch (entry.event()) {
      case SubtaskCreated created ->
          open.put(
              created.subtaskId(),
              new ActiveTask(task, created.agentId() == null ? "" : created.agentId().value()));
      case SubtaskComplete complete -> open.remove(complete.subtaskId());
      case ToolStart start ->
          activeTask.tools.put(
              start.toolCallId().value(), TextSanitizer.line(start.toolName(), NAME_MAX));
      case ToolComplete complete -> activeTask.tools.remove(complete.toolCallId().value());
      case TaskStatus status -> status(activeTask, status);
      case ContentDelta _ -> activeTask.state = null;
      default -> {} // Other events do not change what is at work.
    }
  }

  private static void status(ActiveTask activeTask, TaskStatus status) {
    activeTask.state = status.status() == TaskState.SUBMITTED ? "waiting for its turn" : null;
    status
        .facts()
        .retry()
        .ifPresent(
            retry ->
                activeTask.retry =
                    "retrying %d of %d: %s"
                        .formatted(
                            retry.attempt(),
                            retry.maxAttempts(),
                            TextSanitizer.line(retry.reason(), REASON_MAX)));
  }

  /// For example `researcher · web_search`. A task that waits for subtasks is left out.
  String text() {
    var leaves =
        open.entrySet().stream()
            .filter(one -> open.values().stream().noneMatch(it -> one.getKey().equals(it.parent)))
            .map(one -> text(one.getKey(), one.getValue()))
            .toList();
    var shown = leaves.stream().limit(SHOWN_MAX).collect(Collectors.joining(", "));
    return leaves.size() > SHOWN_MAX
        ? shown + " and " + (leaves.size() - SHOWN_MAX) + " more"
        : shown;
  }

  private String text(TaskId task, ActiveTask activeTask) {
    var name =
        activeTask.agent.isEmpty()
            ? (task.equals(root) ? "working" : "sub-agent")
            : activeTask.agent;
    var doing =
        Objects.requireNonNullElseGet(
            activeTask.retry,
            () ->
                activeTask.tools.isEmpty()
                    ? Objects.requireNonNullElse(activeTask.state, "")
                    : String.join(", ", activeTask.tools.values()));
    return doing.isEmpty() ? name : name + " · " + doing;
  }
}
