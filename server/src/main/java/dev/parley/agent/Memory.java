package dev.parley.agent;

import dev.parley.log.EventLog;
import dev.parley.model.Prompt.Part;
import dev.parley.protocol.Json;
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
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// What an agent remembers of a context when a task begins: its latest messages, and what is asked now.
public final class Memory {

  /// In a message's metadata: it tells in short what was said up to a place.
  static final String SUMMARY = "summary";

  /// In a task's metadata: it is told the messages of the context.
  public static final String HISTORY = "history";

  private final EventLog log;
  private final History history;
  private final Limits.Loop limits;

  public Memory(EventLog log, History history, Limits.Loop limits) {
    this.log = log;
    this.history = history;
    this.limits = limits;
  }

  /// What is asked now, and before it the results of those who worked on it before, and the messages of the
  /// context that are `earlier`.
  List<Part> recall(Run run, List<MessageView> earlier) {
    var parts = new ArrayList<>(past(run, earlier));
    for (var result : metadata(run).path(Spawns.PREVIOUS_RESULTS)) {
      parts.add(new Part.Said(Role.USER, result(result)));
    }
    Grounding.of(metadata(run)).ifPresent(told -> parts.add(new Part.Said(Role.USER, told)));
    parts.add(new Part.Said(Role.USER, prompt(run)));
    return parts;
  }

  /// What is asked now as one text, and before it the results of those who worked on it before.
  public static String given(Run run) {
    var text = new StringBuilder();
    for (var result : metadata(run).path(Spawns.PREVIOUS_RESULTS)) {
      text.append(result(result)).append("\n\n");
    }
    return text.append(prompt(run)).toString();
  }

  private static String result(JsonNode result) {
    return "Result of "
        + result.path("agentId").asString("")
        + ", which worked on this before you:\n\n"
        + result.path("output").asString("");
  }

  /// True if the task is told the messages of the context: if a person gave it, or its giver said so. Others know
  /// only what they were told.
  public boolean knowsPast(Run run) {
    return run.origin().parentTaskId() == null || metadata(run).path(HISTORY).asBoolean(false);
  }

  private static ObjectNode metadata(Run run) {
    return run.created().metadata() == null ? Json.object() : run.created().metadata();
  }

  private static String prompt(Run run) {
    return run.created().prompt() == null ? "" : run.created().prompt();
  }

  private List<Part> past(Run run, List<MessageView> messages) {
    var parts = new ArrayList<Part>();
    var earlier = new ArrayList<>(messages);
    var summary =
        !earlier.isEmpty() && isSummary(earlier.getFirst()) ? earlier.removeFirst() : null;
    var room = limits.historyTokens() - TokenCount.of(prompt(run));
    room -= summary == null ? 0 : TokenCount.of(summary.content());
    for (var message : earlier.reversed()) {
      room -= TokenCount.of(message.content());
      if (room < 0) {
        break;
      }
      if (!message.content().isBlank()) {
        parts.add(new Part.Said(message.role(), message.content()));
      }
    }
    if (summary != null) {
      // Not as the system speaks: what was said comes from anywhere.
      parts.add(new Part.Said(Role.USER, "[" + summary.content() + "]"));
    }
    return parts.reversed();
  }

  /// The messages before this task's own, question with answer: the last summary, if there is one, and
  /// what it does not tell.
  public List<MessageView> earlier(Run run) {
    var messages = history.latestMessages(run.context(), limits.historyMessages());
    var summary = messages.stream().filter(Memory::isSummary).reduce((_, last) -> last);
    var told = summary.map(Memory::told).orElse(0L);
    var own = run.origin().rootTaskId();
    var open = openTasks(run);
    var turns = new LinkedHashMap<String, List<MessageView>>();
    for (var message : messages) {
      var task = task(message);
      // What waits behind this task was said already, but is not yet its turn.
      if (message.seq() > told
          && !isSummary(message)
          && (task == null || !(task.equals(own) || open.contains(task)))) {
        var turn = task == null ? message.messageId().value() : task.value();
        turns.computeIfAbsent(turn, _ -> new ArrayList<>()).add(message);
      }
    }
    var earlier = new ArrayList<MessageView>();
    summary.ifPresent(earlier::add);
    turns.values().forEach(earlier::addAll);
    return earlier;
  }

  /// How many of the latest messages no summary tells, with those of this task and of tasks that wait.
  int untold(Run run) {
    var messages = history.latestMessages(run.context(), limits.historyMessages());
    var summary = messages.stream().filter(Memory::isSummary).reduce((_, last) -> last);
    var told = summary.map(Memory::told).orElse(0L);
    return (int)
        messages.stream().filter(message -> message.seq() > told && !isSummary(message)).count();
  }

  /// Where the turn of a root task begins, also if the message that asked for it was deleted.
  public long beginning(Run run, TaskId task, long otherwise) {
    return Math.min(otherwise, history.beginning(run.context(), task).orElse(otherwise));
  }

  /// Where the log of the run's context ends.
  long head(Run run) {
    return log.head(run.context()).seq();
  }

  /// How much of the past a task is told.
  public Limits.Loop limits() {
    return limits;
  }

  static boolean isSummary(MessageView message) {
    return message.metadata() != null && message.metadata().has(SUMMARY);
  }

  private static long told(MessageView summary) {
    return summary.metadata() == null
        ? 0
        : summary.metadata().path(SUMMARY).path("throughSeq").asLong(0);
  }

  private Set<TaskId> openTasks(Run run) {
    return log.inspect(
        run.context(),
        state ->
            state.openTasks().stream()
                .map(task -> task.origin().taskId())
                .collect(Collectors.toSet()));
  }

  /// The root task that a message belongs to, if there is one.
  public static @Nullable TaskId task(MessageView message) {
    if (message.taskId() != null || message.metadata() == null) {
      return message.taskId();
    }
    var task = message.metadata().path("taskId").asString("");
    return task.isEmpty() ? null : new TaskId(task);
  }
}
