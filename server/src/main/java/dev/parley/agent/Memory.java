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

/// Builds the start of a task's prompt: the earlier messages of the context, and the task's own
/// prompt.
public final class Memory {

  /// In a message's metadata: the message is a summary of earlier messages.
  static final String SUMMARY = "summary";

  /// In a task's metadata: the task's prompt includes the messages of the context.
  public static final String HISTORY = "history";

  private final EventLog log;
  private final History history;
  private final Limits.Loop limits;

  public Memory(EventLog log, History history, Limits.Loop limits) {
    this.log = log;
    this.history = history;
    this.limits = limits;
  }

  /// The messages `earlier`, then the results of previous agents in a sequence, then the task's own
  /// prompt.
  List<Part> recall(Run run, List<MessageView> earlier) {
    var parts = new ArrayList<>(past(run, earlier));
    for (var result : metadata(run).path(Spawns.PREVIOUS_RESULTS)) {
      parts.add(new Part.Said(Role.USER, result(result)));
    }
    Grounding.of(metadata(run)).ifPresent(told -> parts.add(new Part.Said(Role.USER, told)));
    parts.add(new Part.Said(Role.USER, prompt(run)));
    return parts;
  }

  /// The task's own prompt as one text, after the results of previous agents in a sequence.
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

  /// True if the task's prompt includes the messages of the context: if a user created the task, or
  /// the parent requested it. Other tasks see only their prompt.
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
      // Not with the system role: the summarized text is not trusted.
      parts.add(new Part.Said(Role.USER, "[" + summary.content() + "]"));
    }
    return parts.reversed();
  }

  /// The messages before this task's own, each question with its answer: the last summary, if there
  /// is one, and the messages that it does not cover.
  public List<MessageView> earlier(Run run) {
    var messages = history.latestMessages(run.context(), limits.historyMessages());
    var summary = messages.stream().filter(Memory::isSummary).reduce((_, last) -> last);
    var told = summary.map(Memory::told).orElse(0L);
    var own = run.origin().rootTaskId();
    var open = openTasks(run);
    var turns = new LinkedHashMap<String, List<MessageView>>();
    for (var message : messages) {
      var task = task(message);
      // Messages of waiting tasks are in the log already, but belong to later turns.
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

  /// The number of latest messages that no summary covers, including those of this task and of
  /// waiting tasks.
  int untold(Run run) {
    var messages = history.latestMessages(run.context(), limits.historyMessages());
    var summary = messages.stream().filter(Memory::isSummary).reduce((_, last) -> last);
    var told = summary.map(Memory::told).orElse(0L);
    return (int)
        messages.stream().filter(message -> message.seq() > told && !isSummary(message)).count();
  }

  /// The number of the event with which the turn of a root task begins, even if its message was
  /// deleted.
  public long beginning(Run run, TaskId task, long otherwise) {
    return Math.min(otherwise, history.beginning(run.context(), task).orElse(otherwise));
  }

  /// The number of the last event of the run's context.
  long head(Run run) {
    return log.head(run.context()).seq();
  }

  /// The limits of the history in a prompt.
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

  /// The root task of a message, if there is one.
  public static @Nullable TaskId task(MessageView message) {
    if (message.taskId() != null || message.metadata() == null) {
      return message.taskId();
    }
    var task = message.metadata().path("taskId").asString("");
    return task.isEmpty() ? null : new TaskId(task);
  }
}
