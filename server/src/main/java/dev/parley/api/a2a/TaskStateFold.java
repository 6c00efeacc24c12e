package dev.parley.api.a2a;

import dev.parley.a2a.A2aState;
import dev.parley.log.OpenTask;
import dev.parley.log.TaskTreeState;
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
import dev.parley.task.UserWait;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Folds a root task's A2A state. Questions of its subtasks count as its own. For one thread.
final class TaskStateFold {

  private final TaskId root;

  private final TaskTreeState tree = new TaskTreeState();

  private final Map<Id, A2aQuestion> questions = new LinkedHashMap<>();
  private final Set<TaskId> rejected = new HashSet<>();
  private @Nullable A2aState end;

  /// A question of a task in the tree: an [InputRequired] or an [AuthRequired].
  record A2aQuestion(Id id, TaskId task, AgentTypeId agent, Event event) {}

  TaskStateFold(TaskId root) {
    this.root = root;
  }

  /// Applies a message to the tasks of the tree.
  void applyMessage(Entry message) {
    tree.apply(message);
  }

  /// Applies an entry of the tree.
  void apply(Entry entry, Origin origin) {
    tree.apply(entry);
    var task = origin.taskId();
    switch (entry.event()) {
      // On success, `task-complete` follows in the same append and ends the task.
      case TaskStatus(var state, _, _) when state == TaskState.FAILED ->
          ended(task, rejected.contains(task) ? A2aState.REJECTED : A2aState.FAILED);
      case TaskStatus(var state, _, _) when state == TaskState.CANCELED ->
          ended(task, A2aState.CANCELED);
      case TaskComplete _ -> ended(task, A2aState.COMPLETED);
      case InputRequired asked ->
          questions.put(
              asked.inputId(), new A2aQuestion(asked.inputId(), task, origin.agentId(), asked));
      case AuthRequired asked ->
          questions.put(
              asked.authId(), new A2aQuestion(asked.authId(), task, origin.agentId(), asked));
      case ErrorReported failure
          when failure.scope() == ErrorScope.TASK && failure.code() == ErrorCode.REJECTED ->
          rejected.add(task);
      default -> {} // The tree state handles all other events.
    }
    questions.values().removeIf(a2aQuestion -> !isOpen(a2aQuestion.id()));
  }

  private boolean isOpen(Id asked) {
    return switch (asked) {
      case InputId input -> tree.state().openInput(input).isPresent();
      case AuthId auth -> tree.state().openAuth(auth).isPresent();
      default -> false;
    };
  }

  private void ended(TaskId task, A2aState how) {
    if (task.equals(root)) {
      end = how;
    }
  }

  /// The state. A task waits for its caller if there is an open question and no task of its tree
  /// can continue.
  A2aState state() {
    if (end != null) {
      return end;
    }
    if (tree.state().openTask(root).filter(OpenTask::started).isEmpty()) {
      return A2aState.SUBMITTED;
    }
    if (!UserWait.blocksTree(tree.state(), root)) {
      return A2aState.WORKING;
    }
    return openQuestions().stream()
            .anyMatch(a2aQuestion -> a2aQuestion.event() instanceof InputRequired)
        ? A2aState.INPUT_REQUIRED
        : A2aState.AUTH_REQUIRED;
  }

  /// The open questions of tasks that wait for a person.
  List<A2aQuestion> openQuestions() {
    return questions.values().stream()
        .filter(a2aQuestion -> UserWait.blocksTask(tree.state(), a2aQuestion.task()))
        .toList();
  }
}
