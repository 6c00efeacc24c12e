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

/// A root task and the tasks below it that have not ended, and what they ask of people: a fold of their events.
/// It tells when none of them can go on before somebody answers. For one thread.
final class TaskTree {

  /// What a task asks: one of `input` and `auth` is there.
  record Asked(Id id, Origin origin, @Nullable InputRequired input, @Nullable AuthRequired auth) {}

  private final TreeState tree = new TreeState();
  private final Map<Id, Asked> asked = new LinkedHashMap<>();

  /// What is asked now, in the order in which it was.
  List<Asked> asked() {
    return List.copyOf(asked.values());
  }

  /// True if somebody is asked something, and no task can go on before an answer.
  boolean rests(TaskId root) {
    return PersonWait.holds(tree.state(), root);
  }

  /// Takes in an event of one of the tasks.
  void apply(Origin origin, Entry entry) {
    tree.apply(entry);
    switch (entry.event()) {
      case InputRequired input ->
          asked.put(input.inputId(), new Asked(input.inputId(), origin, input, null));
      case AuthRequired auth ->
          asked.put(auth.authId(), new Asked(auth.authId(), origin, null, auth));
      default -> {} // What else moves a task is in the fold.
    }
    asked.keySet().removeIf(id -> !isOpen(id));
  }

  /// Takes in what somebody says to the tasks.
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
