package dev.parley.door.a2a;

import dev.parley.a2a.WireState;
import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.AuthEvent.AuthCompleted;
import dev.parley.protocol.AuthEvent.AuthLapsed;
import dev.parley.protocol.AuthEvent.AuthRequired;
import dev.parley.protocol.Entry;
import dev.parley.protocol.Event;
import dev.parley.protocol.Id;
import dev.parley.protocol.InputEvent.InputLapsed;
import dev.parley.protocol.InputEvent.InputReceived;
import dev.parley.protocol.InputEvent.InputRequired;
import dev.parley.protocol.Origin;
import dev.parley.protocol.ReportEvent.ErrorCode;
import dev.parley.protocol.ReportEvent.ErrorReported;
import dev.parley.protocol.ReportEvent.ErrorScope;
import dev.parley.protocol.TaskEvent.TaskComplete;
import dev.parley.protocol.TaskEvent.TaskCreated;
import dev.parley.protocol.TaskEvent.TaskStatus;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.TaskState;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// Where a root task stands as A2A has it: what those below it ask, it asks. For one thread.
final class Standing {

  private final TaskId root;

  /// The tasks of the tree that have not ended, with what they last said of themselves.
  private final Map<TaskId, Stand> open = new LinkedHashMap<>();

  private final Map<Id, Question> questions = new LinkedHashMap<>();
  private final Set<TaskId> refused = new HashSet<>();
  private @Nullable WireState end;

  /// What a task of the tree asks: an [InputRequired] or an [AuthRequired].
  record Question(Id id, TaskId task, AgentTypeId agent, Event asked) {}

  private record Stand(TaskState state, boolean forPerson) {}

  Standing(TaskId root) {
    this.root = root;
  }

  /// Takes in an entry of the tree.
  void take(Entry entry, Origin origin) {
    var task = origin.taskId();
    switch (entry.event()) {
      case TaskCreated _ -> open.put(task, new Stand(TaskState.SUBMITTED, false));
      case TaskStatus(var state, _, var metadata) -> status(task, state, metadata);
      case TaskComplete _ -> ended(task, WireState.COMPLETED);
      case InputRequired asked ->
          questions.put(
              asked.inputId(), new Question(asked.inputId(), task, origin.agentId(), asked));
      case InputReceived received -> questions.remove(received.inputId());
      case InputLapsed lapsed -> questions.remove(lapsed.inputId());
      case AuthRequired asked ->
          questions.put(
              asked.authId(), new Question(asked.authId(), task, origin.agentId(), asked));
      case AuthCompleted completed -> questions.remove(completed.authId());
      case AuthLapsed lapsed -> questions.remove(lapsed.authId());
      case ErrorReported failure
          when failure.scope() == ErrorScope.TASK && failure.code() == ErrorCode.REJECTED ->
          refused.add(task);
      default -> {} // Nothing else moves a task.
    }
  }

  private void status(TaskId task, TaskState state, @Nullable ObjectNode metadata) {
    switch (state) {
      case SUBMITTED, WORKING, WAITING_SUBTASK -> open.put(task, new Stand(state, false));
      case WAITING_INPUT, WAITING_AUTH ->
          open.put(
              task,
              new Stand(
                  state,
                  metadata == null || metadata.path("blockedBy").asString("user").equals("user")));
      // What ends it is `task-complete`, which follows in the same append.
      case COMPLETED -> {}
      case FAILED -> ended(task, refused.contains(task) ? WireState.REJECTED : WireState.FAILED);
      case CANCELED -> ended(task, WireState.CANCELED);
    }
  }

  private void ended(TaskId task, WireState how) {
    open.remove(task);
    questions.values().removeIf(question -> question.task().equals(task));
    if (task.equals(root)) {
      end = how;
    }
  }

  /// The state. A task waits for its caller if something is asked and nothing in its tree works on.
  WireState state() {
    if (end != null) {
      return end;
    }
    var own = open.get(root);
    if (own == null || own.state() == TaskState.SUBMITTED) {
      return WireState.SUBMITTED;
    }
    if (open.entrySet().stream().anyMatch(e -> works(e.getKey(), e.getValue()))) {
      return WireState.WORKING;
    }
    var asked = asked();
    if (asked.isEmpty()) {
      return WireState.WORKING;
    }
    return asked.stream().anyMatch(question -> question.asked() instanceof InputRequired)
        ? WireState.INPUT_REQUIRED
        : WireState.AUTH_REQUIRED;
  }

  private boolean works(TaskId task, Stand stand) {
    return switch (stand.state()) {
      case WORKING -> true;
      case WAITING_INPUT, WAITING_AUTH ->
          !stand.forPerson()
              || questions.values().stream().noneMatch(asked -> asked.task().equals(task));
      case SUBMITTED, WAITING_SUBTASK, COMPLETED, FAILED, CANCELED -> false;
    };
  }

  /// What is asked of a person by tasks that wait for it.
  List<Question> asked() {
    return questions.values().stream()
        .filter(
            question -> {
              var stand = open.get(question.task());
              return stand != null && stand.forPerson();
            })
        .toList();
  }
}
