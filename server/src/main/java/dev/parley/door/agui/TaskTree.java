package dev.parley.door.agui;

import dev.parley.log.TreeState;
import dev.parley.protocol.AuthEvent.AuthRequired;
import dev.parley.protocol.AuthId;
import dev.parley.protocol.Entry;
import dev.parley.protocol.Id;
import dev.parley.protocol.InputEvent.InputRequired;
import dev.parley.protocol.InputId;
import dev.parley.protocol.Origin;
import dev.parley.protocol.TaskId;
import dev.parley.task.PersonWait;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// Folds the state of a root task and its subtasks, and their open questions. Detects when no task
/// can continue without an answer. For one thread.
final class TaskTree {

  /// An open question of a task. Exactly one of `input` and `auth` is set.
  record Asked(Id id, Origin origin, @Nullable InputRequired input, @Nullable AuthRequired auth) {}

  private final TreeState tree = new TreeState();
  private final Map<Id, Asked> asked = new LinkedHashMap<>();

  /// The open questions, oldest first.
  List<Asked> asked() {
    return List.copyOf(asked.values());
  }

  /// True if there is an open question, and no task can continue without an answer.
  boolean rests(TaskId root) {
    return PersonWait.holds(tree.state(), root);
  }

  /// Applies an event of one of the tasks.
  void apply(Origin origin, Entry entry) {
    tree.apply(entry);
    switch (entry.event()) {
      case InputRequired input ->
          asked.put(input.inputId(), new Asked(input.inputId(), origin, input, null));
      case AuthRequired auth ->
          asked.put(auth.authId(), new Asked(auth.authId(), origin, null, auth));
      default -> {} // The tree state handles all other events.
    }
    asked.keySet().removeIf(id -> !isOpen(id));
  }

  /// Applies a message to the tasks.
  void hear(Entry message) {
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
