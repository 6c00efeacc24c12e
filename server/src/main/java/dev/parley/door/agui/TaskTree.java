package dev.parley.door.agui;

import dev.parley.protocol.AuthEvent.AuthCompleted;
import dev.parley.protocol.AuthEvent.AuthLapsed;
import dev.parley.protocol.AuthEvent.AuthRequired;
import dev.parley.protocol.Entry;
import dev.parley.protocol.Id;
import dev.parley.protocol.InputEvent.InputLapsed;
import dev.parley.protocol.InputEvent.InputReceived;
import dev.parley.protocol.InputEvent.InputRequired;
import dev.parley.protocol.MessageEvent.Message;
import dev.parley.protocol.Origin;
import dev.parley.protocol.TaskEvent.CancelRequested;
import dev.parley.protocol.TaskEvent.TaskComplete;
import dev.parley.protocol.TaskEvent.TaskCreated;
import dev.parley.protocol.TaskEvent.TaskStatus;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.ToolEvent.ToolComplete;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// A root task and the tasks below it that have not ended, and what they ask of people: a fold of their events.
/// It tells when none of them can go on before somebody answers. For one thread.
final class TaskTree {

  /// What a task asks: one of `input` and `auth` is there.
  record Asked(Id id, Origin origin, @Nullable InputRequired input, @Nullable AuthRequired auth) {}

  private static final class Node {
    final Origin origin;
    final boolean hosted;
    TaskState state = TaskState.SUBMITTED;
    boolean woken;
    boolean stopping;

    Node(Origin origin, TaskCreated created) {
      this.origin = origin;
      this.hosted =
          created.metadata() != null && created.metadata().path("hosted").asBoolean(false);
    }
  }

  private final Map<TaskId, Node> open = new LinkedHashMap<>();
  private final Map<Id, Asked> asked = new LinkedHashMap<>();

  /// What is asked now, in the order in which it was.
  List<Asked> asked() {
    return List.copyOf(asked.values());
  }

  /// True if somebody is asked something, and no task can go on before an answer.
  boolean rests() {
    return !asked.isEmpty()
        && open.values().stream()
            .allMatch(task -> task.state.waiting() && !task.woken && !task.stopping);
  }

  /// Takes in an event of one of the tasks.
  void apply(Origin origin, Entry entry) {
    var task = open.get(origin.taskId());
    switch (entry.event()) {
      case TaskCreated created -> open.put(origin.taskId(), new Node(origin, created));
      case TaskStatus(var status, _, var metadata) -> {
        if (task != null) {
          task.state = status;
          // With an inputId, an agent above is asked first: the task itself sees to that.
          task.woken = metadata != null && metadata.has("inputId");
        }
        if (status == TaskState.FAILED || status == TaskState.CANCELED) {
          forget(origin);
        }
      }
      case TaskComplete _ -> forget(origin);
      case CancelRequested _ -> {
        if (task != null) {
          task.stopping = true;
        }
      }
      case ToolComplete _ -> wake(origin.taskId());
      case InputRequired input -> ask(new Asked(input.inputId(), origin, input, null));
      case AuthRequired auth -> ask(new Asked(auth.authId(), origin, null, auth));
      case InputReceived received -> answered(received.inputId());
      case InputLapsed lapsed -> answered(lapsed.inputId());
      case AuthCompleted completed -> answered(completed.authId());
      case AuthLapsed lapsed -> answered(lapsed.authId());
      default -> {} // Says nothing of whether a task can go on.
    }
  }

  /// Takes in what somebody says to the tasks.
  void hear(Message message) {
    if (message.metadata() != null) {
      message
          .metadata()
          .path("heardBy")
          .valueStream()
          .forEach(task -> wake(new TaskId(task.asString())));
    }
  }

  private void ask(Asked question) {
    asked.put(question.id(), question);
  }

  private void answered(Id id) {
    var question = asked.remove(id);
    if (question != null) {
      wake(question.origin().taskId());
    }
  }

  private void wake(TaskId id) {
    var task = open.get(id);
    if (task != null) {
      task.woken = true;
    }
  }

  private void forget(Origin origin) {
    var ended = open.remove(origin.taskId());
    asked.values().removeIf(question -> question.origin().taskId().equals(origin.taskId()));
    var parent = origin.parentTaskId();
    if (parent != null
        && (ended == null || !ended.hosted)
        && open.values().stream().noneMatch(other -> together(other.origin, origin))) {
      wake(parent);
    }
  }

  private static boolean together(Origin one, Origin other) {
    return Objects.equals(one.parentTaskId(), other.parentTaskId())
        && Objects.equals(one.invocationId(), other.invocationId());
  }
}
