package dev.parley.api.chat;

import dev.parley.api.ApiDependencies;
import dev.parley.projection.UsageTotals;
import dev.parley.protocol.ArtifactId;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Json;
import dev.parley.protocol.MessageView;
import dev.parley.protocol.ReportEvent.ErrorCode;
import dev.parley.protocol.ReportEvent.Usage;
import dev.parley.protocol.RoutingFacts;
import dev.parley.protocol.TaskEndFacts;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.TaskView;
import dev.parley.protocol.WireName;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// Maps tasks and their results to the records of the chat API.
final class ChatTaskResults {

  /// The reason of a task that was canceled while it was queued.
  static final String NEVER_STARTED = "Task was cancelled before execution";

  private final ApiDependencies parts;

  ChatTaskResults(ApiDependencies parts) {
    this.parts = parts;
  }

  /// A task's working directory and inputs.
  record TaskContext(
      @Nullable String workingDirectory,
      @Nullable JsonNode previousResults,
      ContextId conversationId) {}

  /// A task, its status, and its result once it has ended.
  record AgentTask(
      TaskId id,
      String type,
      String prompt,
      TaskContext context,
      String priority,
      long timeout,
      @Nullable TaskId parentTaskId,
      Instant createdAt,
      String agentId,
      ChatStatus status,
      @Nullable AgentResult result) {}

  /// An artifact of a task.
  record TaskArtifact(
      ArtifactId id, @Nullable String name, @Nullable String mimeType, int version, String url) {}

  /// The result of a task.
  record AgentResult(
      TaskId taskId,
      String agentId,
      ChatStatus status,
      String output,
      @Nullable String error,
      @Nullable String code,
      @Nullable List<TaskArtifact> artifacts,
      @Nullable ObjectNode usage,
      @Nullable ObjectNode modelUsage,
      @Nullable BigDecimal costUsd,
      long duration,
      @Nullable Integer numTurns,
      @Nullable ObjectNode metadata) {}

  /// The task.
  AgentTask task(TaskView view) {
    var priority = view.priority();
    return new AgentTask(
        view.taskId(),
        Optional.ofNullable(view.taskType()).filter(ChatTaskTypes.ALL::contains).orElse("general"),
        Optional.ofNullable(view.prompt()).orElse(""),
        new TaskContext(
            view.workingDirectory(),
            view.facts().previousResultList().orElse(null),
            view.contextId()),
        priority == null ? "normal" : ((WireName) priority).wire(),
        Optional.ofNullable(view.timeoutMs()).orElse(parts.taskTimeout().toMillis()),
        view.parentTaskId(),
        view.createdAt(),
        view.agentId().value(),
        ChatStatus.of(view),
        result(view).orElse(null));
  }

  /// The result of the task, if it has ended.
  Optional<AgentResult> result(TaskView view) {
    var status = ChatStatus.of(view);
    if (!status.ended()) {
      return Optional.empty();
    }
    var end = view.endFacts();
    var costs = TaskCosts.of(end);
    var others = end.others();
    var error = view.error();
    return Optional.of(
        new AgentResult(
            view.taskId(),
            answerAuthor(end).orElse(view.agentId().value()),
            status,
            output(view),
            error(view, status),
            error == null ? null : error.code(),
            artifacts(view),
            costs.usage(),
            costs.modelUsage(),
            costs.costUsd(),
            duration(view),
            end.iterations().isMissingNode() ? null : end.iterations().intValue(),
            others.isEmpty() ? null : others));
  }

  /// The whole answer, or the available part of it.
  private String output(TaskView view) {
    var content = view.content();
    return content != null
        ? content
        : parts.views().answerOf(view.contextId(), view).map(MessageView::content).orElse("");
  }

  private static @Nullable String error(TaskView view, ChatStatus status) {
    if (view.error() != null) {
      return view.error().message();
    }
    if (status == ChatStatus.SUCCESS) {
      return null;
    }
    var facts = view.statusFacts();
    return facts.started() ? facts.reason().orElse(status.wire()) : NEVER_STARTED;
  }

  private @Nullable List<TaskArtifact> artifacts(TaskView view) {
    var ids = view.artifacts();
    if (ids == null) {
      return null;
    }
    return ids.stream()
        .flatMap(id -> parts.views().artifact(view.contextId(), id, null).stream())
        .map(
            artifact ->
                new TaskArtifact(
                    artifact.artifactId(),
                    artifact.name(),
                    artifact.mimeType(),
                    artifact.version(),
                    "/api/contexts/" + view.contextId() + "/artifacts/" + artifact.artifactId()))
        .toList();
  }

  private static long duration(TaskView view) {
    var measured = view.endFacts().duration();
    if (!measured.isMissingNode()) {
      return measured.longValue();
    }
    var ended = Optional.ofNullable(view.endedAt()).orElse(view.updatedAt());
    return Duration.between(view.createdAt(), ended).toMillis();
  }

  /// The costs of a task, including the agents that it delegated work to.
  ///
  /// @param usage total tokens, if known
  /// @param modelUsage tokens of each model, if known
  /// @param costUsd total cost, if known
  record TaskCosts(
      @Nullable ObjectNode usage, @Nullable ObjectNode modelUsage, @Nullable BigDecimal costUsd) {

    /// The sums in the metadata at the end of a task.
    static TaskCosts of(TaskEndFacts end) {
      var sums = UsageTotals.atEnd(end);
      var models = Json.object();
      sums.byModel().forEach((model, usage) -> models.set(model, tokens(usage)));
      var total = sums.total();
      var usage = total == null ? null : tokens(total);
      if (usage != null) {
        usage.remove("costUsd");
      }
      return new TaskCosts(
          usage, models.isEmpty() ? null : models, total == null ? null : total.costUsd());
    }

    private static ObjectNode tokens(Usage usage) {
      ObjectNode json = Json.mapper().valueToTree(usage);
      json.remove("model");
      return json;
    }
  }

  /// The state of a task in the chat API. The last four are those of a result.
  enum ChatStatus implements WireName {
    PENDING,
    RUNNING,
    WAITING,
    SUCCESS,
    FAILURE,
    CANCELLED,
    TIMEOUT;

    /// The status for a state, and for its error if it has one.
    static ChatStatus of(TaskView task) {
      var error = task.error();
      return of(task.status(), error == null ? null : error.known().orElse(null));
    }

    static ChatStatus of(TaskState state, @Nullable ErrorCode error) {
      return switch (state) {
        case SUBMITTED -> PENDING;
        case WORKING, WAITING_SUBTASK -> RUNNING;
        case WAITING_INPUT, WAITING_AUTH -> WAITING;
        case COMPLETED -> SUCCESS;
        case CANCELED -> CANCELLED;
        case FAILED -> error == ErrorCode.TIMEOUT ? TIMEOUT : FAILURE;
      };
    }

    /// True if there is a result.
    boolean ended() {
      return switch (this) {
        case PENDING, RUNNING, WAITING -> false;
        case SUCCESS, FAILURE, CANCELLED, TIMEOUT -> true;
      };
    }
  }

  /// The agent to which all of the work was delegated.
  static Optional<String> answerAuthor(TaskEndFacts task) {
    return task.routing()
        .filter(RoutingFacts::delegatesToOneAgent)
        .flatMap(RoutingFacts::firstAgent);
  }
}
