package dev.parley.agent;

import dev.parley.log.EventLog;
import dev.parley.model.Prompt.PromptPart;
import dev.parley.protocol.MessageEvent.Role;
import dev.parley.protocol.MessageFacts;
import dev.parley.protocol.MessageView;
import dev.parley.protocol.TaskEndFacts;
import dev.parley.protocol.TaskId;
import dev.parley.task.ContextHistory;
import dev.parley.task.TaskLimits;
import dev.parley.task.TaskRun;
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
public final class ConversationMemory {

  private final EventLog log;
  private final ContextHistory contextHistory;
  private final TaskLimits.LoopLimits limits;

  public ConversationMemory(
      EventLog log, ContextHistory contextHistory, TaskLimits.LoopLimits limits) {
    this.log = log;
    this.contextHistory = contextHistory;
    this.limits = limits;
  }

  /// The messages `earlier`, then the results of previous agents in a sequence, then the task's own
  /// prompt.
  List<PromptPart> promptParts(TaskRun taskRun, List<MessageView> earlier) {
    var parts = new ArrayList<>(historyParts(taskRun, earlier));
    for (var result : taskRun.created().facts().previousResults()) {
      parts.add(new PromptPart.PromptMessage(Role.USER, result(result)));
    }
    GroundingEntries.of(taskRun.created().facts().grounding())
        .ifPresent(told -> parts.add(new PromptPart.PromptMessage(Role.USER, told)));
    parts.add(new PromptPart.PromptMessage(Role.USER, prompt(taskRun)));
    return parts;
  }

  /// The task's own prompt as one text, after the results of previous agents in a sequence.
  public static String promptText(TaskRun taskRun) {
    var text = new StringBuilder();
    for (var result : taskRun.created().facts().previousResults()) {
      text.append(result(result)).append("\n\n");
    }
    return text.append(prompt(taskRun)).toString();
  }

  private static String result(JsonNode result) {
    return "Result of "
        + result.path("agentId").asString("")
        + ", which worked on this before you:\n\n"
        + result.path("output").asString("")
        + TaskEndFacts.of(result.path("metadata") instanceof ObjectNode metadata ? metadata : null)
            .earlyEnd()
            .map(early -> "\n\n" + early.note())
            .orElse("");
  }

  /// True if the task's prompt includes the messages of the context: if a user created the task, or
  /// the parent requested it. Other tasks see only their prompt.
  public boolean seesHistory(TaskRun taskRun) {
    return taskRun.origin().parentTaskId() == null || taskRun.created().facts().history();
  }

  private static String prompt(TaskRun taskRun) {
    return taskRun.created().prompt() == null ? "" : taskRun.created().prompt();
  }

  private List<PromptPart> historyParts(TaskRun taskRun, List<MessageView> messages) {
    var parts = new ArrayList<PromptPart>();
    var earlier = new ArrayList<>(messages);
    var summary =
        !earlier.isEmpty() && isSummary(earlier.getFirst()) ? earlier.removeFirst() : null;
    var room = limits.historyTokens() - TokenEstimate.of(prompt(taskRun));
    room -= summary == null ? 0 : TokenEstimate.of(summary.content());
    for (var message : earlier.reversed()) {
      room -= TokenEstimate.of(message.content());
      if (room < 0) {
        break;
      }
      if (!message.content().isBlank()) {
        parts.add(new PromptPart.PromptMessage(message.role(), message.content()));
      }
    }
    if (summary != null) {
      // Not with the system role: the summarized text is not trusted.
      parts.add(new PromptPart.PromptMessage(Role.USER, "[" + summary.content() + "]"));
    }
    return parts.reversed();
  }

  /// The messages before this task's own, each question with its answer: the last summary, if there
  /// is one, and the messages that it does not cover.
  public List<MessageView> earlierMessages(TaskRun taskRun) {
    var messages = contextHistory.latestMessages(taskRun.context(), limits.historyMessages());
    var summary = messages.stream().filter(ConversationMemory::isSummary).reduce((_, last) -> last);
    var told = summary.map(ConversationMemory::summarizedThrough).orElse(0L);
    var own = taskRun.origin().rootTaskId();
    var open = openTasks(taskRun);
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
  int unsummarizedCount(TaskRun taskRun) {
    var messages = contextHistory.latestMessages(taskRun.context(), limits.historyMessages());
    var summary = messages.stream().filter(ConversationMemory::isSummary).reduce((_, last) -> last);
    var told = summary.map(ConversationMemory::summarizedThrough).orElse(0L);
    return (int)
        messages.stream().filter(message -> message.seq() > told && !isSummary(message)).count();
  }

  /// The number of the event with which the turn of a root task begins, even if its message was
  /// deleted.
  public long turnStart(TaskRun taskRun, TaskId task, long otherwise) {
    return Math.min(otherwise, contextHistory.turnStart(taskRun.context(), task).orElse(otherwise));
  }

  /// The number of the last event of the run's context.
  long head(TaskRun taskRun) {
    return log.head(taskRun.context()).seq();
  }

  /// The limits of the history in a prompt.
  public TaskLimits.LoopLimits limits() {
    return limits;
  }

  static boolean isSummary(MessageView message) {
    return message.facts().summary().isPresent();
  }

  private static long summarizedThrough(MessageView summary) {
    return summary.facts().summary().map(MessageFacts.Summary::throughSeq).orElse(0L);
  }

  private Set<TaskId> openTasks(TaskRun taskRun) {
    return log.inspect(
        taskRun.context(),
        state ->
            state.openTasks().stream()
                .map(task -> task.origin().taskId())
                .collect(Collectors.toSet()));
  }

  /// The root task of a message, if there is one.
  public static @Nullable TaskId task(MessageView message) {
    return message.taskId() == null ? message.facts().taskId().orElse(null) : message.taskId();
  }
}
