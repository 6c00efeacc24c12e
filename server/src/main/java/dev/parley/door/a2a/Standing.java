package dev.parley.door.a2a;

import dev.parley.a2a.WireState;
import dev.parley.log.OpenTask;
import dev.parley.log.TreeState;
import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.AuthEvent.AuthRequired;
import dev.parley.protocol.AuthId;
import dev.parley.protocol.Entry;
import dev.parley.protocol.Event;
import dev.parley.protocol.Id;
import dev.parley.protocol.InputEvent.InputRequired;
import dev.parley.protocol.InputId;
import dev.parley.protocol.Origin;
import dev.parley.protocol.ReportEvent.ErrorCode;
import dev.parley.protocol.ReportEvent.ErrorReported;
import dev.parley.protocol.ReportEvent.ErrorScope;
import dev.parley.protocol.TaskEvent.TaskComplete;
import dev.parley.protocol.TaskEvent.TaskStatus;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.TaskState;
import dev.parley.task.PersonWait;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Folds a root task's A2A state. Questions of its subtasks count as its own. For one thread.
final class Standing {

  private final TaskId root;

  private final TreeState tree = new TreeState();

  private final Map<Id, Question> questions = new LinkedHashMap<>();
  private final Set<TaskId> refused = new HashSet<>();
  private @Nullable WireState end;

  /// A question of a task in the tree: an [InputRequired] or an [AuthRequired].
  record Question(Id id, TaskId task, AgentTypeId agent, Event asked) {}

  Standing(TaskId root) {
    this.root = root;
  }

  /// Applies a message to the tasks of the tree.
  void hear(Entry message) {
    tree.apply(message);
  }

  /// Applies an entry of the tree.
  void take(Entry entry, Origin origin) {
    tree.apply(entry);
    var task = origin.taskId();
    switch (entry.event()) {
      // On success, `task-complete` follows in the same append and ends the task.
      case TaskStatus(var state, _, _) when state == TaskState.FAILED ->
          ended(task, refused.contains(task) ? WireState.REJECTED : WireState.FAILED);
      case TaskStatus(var state, _, _) when state == TaskState.CANCELED ->
          ended(task, WireState.CANCELED);
      case TaskComplete _ -> ended(task, WireState.COMPLETED);
      case InputRequired asked ->
          questions.put(
              asked.inputId(), new Question(asked.inputId(), task, origin.agentId(), asked));
      case AuthRequired asked ->
          questions.put(
              asked.authId(), new Question(asked.authId(), task, origin.agentId(), asked));
      case ErrorReported failure
          when failure.scope() == ErrorScope.TASK && failure.code() == ErrorCode.REJECTED ->
          refused.add(task);
      default -> {} // The tree state handles all other events.
    }
    questions.values().removeIf(question -> !isOpen(question.id()));
  }

  private boolean isOpen(Id asked) {
    return switch (asked) {
      case InputId input -> tree.state().openInput(input).isPresent();
      case AuthId auth -> tree.state().openAuth(auth).isPresent();
      default -> false;
    };
  }

  private void ended(TaskId task, WireState how) {
    if (task.equals(root)) {
      end = how;
    }
  }

  /// The state. A task waits for its caller if there is an open question and no task of its tree
  /// can continue.
  WireState state() {
    if (end != null) {
      return end;
    }
    if (tree.state().openTask(root).filter(OpenTask::started).isEmpty()) {
      return WireState.SUBMITTED;
    }
    if (!PersonWait.holds(tree.state(), root)) {
      return WireState.WORKING;
    }
    return asked().stream().anyMatch(question -> question.asked() instanceof InputRequired)
        ? WireState.INPUT_REQUIRED
        : WireState.AUTH_REQUIRED;
  }

  /// The open questions of tasks that wait for a person.
  List<Question> asked() {
    return questions.values().stream()
        .filter(question -> PersonWait.asks(tree.state(), question.task()))
        .toList();
  }
}
