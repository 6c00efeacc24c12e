package dev.parley.agent;

import dev.parley.log.EventLog;
import dev.parley.model.Prompt.Part;
import dev.parley.protocol.MessageEvent.Role;
import dev.parley.protocol.TaskId;
import dev.parley.task.History;
import dev.parley.task.Limits;
import dev.parley.task.Run;
import dev.parley.view.MessageView;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// What an agent remembers of a context when a task begins: its latest messages, and what is asked now.
public final class Memory {

  private final EventLog log;
  private final History history;
  private final Limits limits;

  public Memory(EventLog log, History history, Limits limits) {
    this.log = log;
    this.history = history;
    this.limits = limits;
  }

  /// The messages before this task's own, question with answer, and then its own, once.
  List<Part> recall(Run run) {
    var own = run.origin().taskId();
    var open = openTasks(run);
    var turns = new LinkedHashMap<String, List<MessageView>>();
    for (var message : history.latestMessages(run.context(), limits.historyMessages())) {
      var task = task(message);
      // What waits behind this task was said already, but is not yet its turn.
      if (task == null || !(task.equals(own) || open.contains(task))) {
        var turn = task == null ? message.messageId().value() : task.value();
        turns.computeIfAbsent(turn, _ -> new ArrayList<>()).add(message);
      }
    }
    var prompt = run.created().prompt() == null ? "" : run.created().prompt();
    var parts = new ArrayList<Part>();
    var room = limits.historyCharacters() - prompt.length();
    for (var message : turns.values().stream().flatMap(List::stream).toList().reversed()) {
      room -= message.content().length();
      if (room < 0) {
        break;
      }
      if (!message.content().isBlank()) {
        parts.add(new Part.Said(message.role(), message.content()));
      }
    }
    var inOrder = new ArrayList<>(parts.reversed());
    inOrder.add(new Part.Said(Role.USER, prompt));
    return inOrder;
  }

  private Set<TaskId> openTasks(Run run) {
    return log.inspect(
        run.context(),
        state ->
            state.openTasks().stream()
                .map(task -> task.origin().taskId())
                .collect(Collectors.toSet()));
  }

  private static @Nullable TaskId task(MessageView message) {
    if (message.taskId() != null || message.metadata() == null) {
      return message.taskId();
    }
    var task = message.metadata().path("taskId").asString("");
    return task.isEmpty() ? null : new TaskId(task);
  }
}
