package dev.parley.agent;

import dev.parley.protocol.ContentEvent.ToolCall;
import dev.parley.protocol.InvocationId;
import dev.parley.protocol.QuestionPurpose;
import dev.parley.protocol.SubtaskEvent.SubtaskComplete;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.ToolEvent.SubagentMetadata;
import dev.parley.protocol.ToolEvent.ToolComplete;
import dev.parley.protocol.ToolEvent.ToolStart;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// The state of one tool call of a turn, as the log has it. Only [ModelTaskHistory] changes it. Not
/// thread-safe.
final class ToolCallHistory {

  private final ToolCall call;
  private final TaskHistory task;
  private ObjectNode requestedArguments;
  private @Nullable ToolStart start;
  private @Nullable String questionId;
  private @Nullable ToolComplete end;
  private int attempts;
  private int starts;
  private int retries;
  private @Nullable Instant startedAt;
  private double progress;
  private boolean returnedForInput;
  private int askedAt;

  ToolCallHistory(ToolCall call, TaskHistory task) {
    this.call = call;
    this.task = task;
    this.requestedArguments = call.arguments();
  }

  /// The call as public events show it: without its private arguments.
  ToolCall call() {
    return call;
  }

  /// All arguments that the model wrote.
  ObjectNode requestedArguments() {
    return requestedArguments;
  }

  boolean started() {
    return start != null;
  }

  /// The arguments of the call, which a person may have edited.
  ObjectNode arguments() {
    return start == null ? requestedArguments : arguments(start.arguments());
  }

  /// The arguments for these public ones: all that the model wrote, unless a person edited them.
  ObjectNode arguments(ObjectNode shown) {
    return shown.equals(call.arguments()) ? requestedArguments : shown;
  }

  Optional<SubagentMetadata> subagents() {
    return Optional.ofNullable(start).map(ToolStart::subagentMetadata);
  }

  /// The id that the subtasks of the call share.
  Optional<InvocationId> invocationId() {
    return Optional.ofNullable(start).flatMap(begun -> begun.facts().invocationId());
  }

  /// The latest question of the call.
  Optional<TaskQuestion> question() {
    return Optional.ofNullable(questionId).map(task.questions()::get);
  }

  Optional<ToolComplete> end() {
    return Optional.ofNullable(end);
  }

  /// How often the tool was called.
  int attempts() {
    return attempts;
  }

  /// How often the tool was called since it last returned for input.
  int starts() {
    return starts;
  }

  /// How often the tool was called again because the call was interrupted, including the current
  /// time. A call that is repeated with an answer is not a retry.
  int retries() {
    return retries + (start != null && !returnedForInput ? 1 : 0);
  }

  /// When the call started, if it has started.
  Optional<Instant> startedAt() {
    return Optional.ofNullable(startedAt);
  }

  double progress() {
    return progress;
  }

  /// True if the latest question belongs to the latest attempt.
  boolean questionIsCurrent() {
    return askedAt == attempts;
  }

  /// True if the tool returned for input in the latest attempt.
  boolean returnedForInput() {
    return returnedForInput;
  }

  /// The subtasks that the call spawned, with the ends of those that have ended.
  Map<TaskId, Optional<SubtaskComplete>> children() {
    var children = new LinkedHashMap<TaskId, Optional<SubtaskComplete>>();
    for (var child : subagents().map(SubagentMetadata::taskIds).orElse(List.of())) {
      var end = task.subtasks().get(child);
      if (end != null) {
        children.put(child, end);
      }
    }
    return children;
  }

  void complete(ObjectNode arguments) {
    requestedArguments = arguments;
  }

  void begin(ToolStart started, Instant at) {
    start = started;
    startedAt = at;
    retries = 0;
    attempts = 1;
    starts = 1;
    returnedForInput = false;
  }

  void restart(int attempt) {
    if (attempt <= attempts) {
      return;
    }
    attempts = attempt;
    starts++;
    retries += returnedForInput ? 0 : 1;
    returnedForInput = false;
  }

  void progress(double now) {
    progress = Math.max(progress, now);
  }

  void ask(TaskQuestion asked) {
    questionId = asked.id();
    askedAt = attempts;
    if (asked.purpose() == QuestionPurpose.NEED) {
      returnedForInput = true;
      starts = 0;
    }
  }

  void end(ToolComplete ended) {
    end = ended;
  }
}
