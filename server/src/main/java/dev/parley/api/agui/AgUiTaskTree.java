package dev.parley.api.agui;

import dev.parley.log.TaskTreeState;
import dev.parley.protocol.AuthEvent.AuthRequired;
import dev.parley.protocol.AuthId;
import dev.parley.protocol.Entry;
import dev.parley.protocol.Id;
import dev.parley.protocol.InputEvent.InputRequired;
import dev.parley.protocol.InputId;
import dev.parley.protocol.Origin;
import dev.parley.protocol.TaskId;
import dev.parley.task.UserWait;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// Folds the state of a root task and its subtasks, and their open questions. Detects when no task
/// can continue without an answer. For one thread.
final class AgUiTaskTree {

  /// An open question of a task. Exactly one of `input` and `auth` is set.
  record AgUiQuestion(
      Id id, Origin origin, @Nullable InputRequired input, @Nullable AuthRequired auth) {}

  private final TaskTreeState tree = new TaskTreeState();
  private final Map<Id, AgUiQuestion> openQuestions = new LinkedHashMap<>();

  /// The open questions, oldest first.
  List<AgUiQuestion> openQuestions() {
    return List.copyOf(openQuestions.values());
  }

  /// True if there is an open question, and no task can continue without an answer.
  boolean waitsForPerson(TaskId root) {
    return UserWait.blocksTree(tree.state(), root);
  }

  /// Applies an event of one of the tasks.
  void apply(Origin origin, Entry entry) {
    tree.apply(entry);
    switch (entry.event()) {
      case InputRequired input ->
          openQuestions.put(
              input.inputId(), new AgUiQuestion(input.inputId(), origin, input, null));
      case AuthRequired auth ->
          openQuestions.put(auth.authId(), new AgUiQuestion(auth.authId(), origin, null, auth));
      default -> {} // The tree state handles all other events.
    }
    openQuestions.keySet().removeIf(id -> !isOpen(id));
  }

  /// Applies a message to the tasks.
  void applyMessage(Entry message) {
    tree.apply(message);
  }

  private boolean isOpen(Id id) {
    return switch (id) {
      case InputId input -> tree.state().openInput(input).isPresent();
      case AuthId auth -> tree.state().openAuth(auth).isPresent();
      default -> false;
    };
  }
}
