package dev.parley.agent;

import dev.parley.log.EventLog;
import dev.parley.model.Prompt.PromptPart;
import dev.parley.protocol.MessageEvent.Role;
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

  /// The messages before a task's own, each question with its answer: the last summary, if there is
  /// one, and the messages that it does not cover. `unsummarized` is the number of latest messages
  /// that no summary covers, including those of the task and of waiting tasks.
  record EarlierMessages(List<MessageView> messages, int unsummarized) {}

  /// The messages before this task's own: see [EarlierMessages].
  public List<MessageView> earlierMessages(TaskRun taskRun) {
    return earlier(taskRun).messages();
  }

  EarlierMessages earlier(TaskRun taskRun) {
    var messages = contextHistory.latestMessages(taskRun.context(), limits.historyMessages());
    @Nullable MessageView summary = null;
    var summarizedThrough = 0L;
    for (var message : messages) {
      var summarized = message.facts().summary();
      if (summarized.isPresent()) {
        summary = message;
        summarizedThrough = summarized.get().throughSeq();
      }
    }
    var own = taskRun.origin().rootTaskId();
    var open = otherOpenTasks(taskRun, own);
    var turns = new LinkedHashMap<String, List<MessageView>>();
    var unsummarized = 0;
    for (var message : messages) {
      if (message.seq() <= summarizedThrough || isSummary(message)) {
        continue;
      }
      unsummarized++;
      var task = task(message);
      // Messages of waiting tasks are in the log already, but belong to later turns.
      if (task == null || !(task.equals(own) || open.contains(task))) {
        var turn = task == null ? message.messageId().value() : task.value();
        turns.computeIfAbsent(turn, _ -> new ArrayList<>(2)).add(message);
      }
    }
    var earlier = new ArrayList<MessageView>();
    if (summary != null) {
      earlier.add(summary);
    }
    turns.values().forEach(earlier::addAll);
    return new EarlierMessages(earlier, unsummarized);
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

  /// The log.
  EventLog log() {
    return log;
  }

  /// The limits of the history in a prompt.
  public TaskLimits.LoopLimits limits() {
    return limits;
  }

  static boolean isSummary(MessageView message) {
    return message.facts().summary().isPresent();
  }

  private Set<TaskId> otherOpenTasks(TaskRun taskRun, TaskId own) {
    return log.inspect(
        taskRun.context(),
        state ->
            state.openTasks().stream()
                .map(task -> task.origin().taskId())
                .filter(task -> !task.equals(own))
                .collect(Collectors.toUnmodifiableSet()));
  }

  /// The root task of a message, if there is one.
  public static @Nullable TaskId task(MessageView message) {
    return message.taskId() == null ? message.facts().taskId().orElse(null) : message.taskId();
  }
}
