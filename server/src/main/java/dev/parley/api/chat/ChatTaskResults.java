package dev.parley.api.chat;

import dev.parley.http.ApiDependencies;
import dev.parley.projection.MessageView;
import dev.parley.projection.TaskView;
import dev.parley.protocol.ArtifactId;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.TaskId;
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
        Optional.ofNullable(view.taskType()).orElse("general"),
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
        status(view),
        result(view).orElse(null));
  }

  /// The result of the task, if it has ended.
  Optional<AgentResult> result(TaskView view) {
    var status = status(view);
    if (!status.ended()) {
      return Optional.empty();
    }
    var end = view.endFacts();
    var taskCosts = TaskCosts.of(end);
    var others = end.others();
    var error = view.error();
    return Optional.of(
        new AgentResult(
            view.taskId(),
            AnswerAuthor.of(end).orElse(view.agentId().value()),
            status,
            output(view),
            error(view, status),
            error == null ? null : error.code().wire(),
            artifacts(view),
            taskCosts.usage(),
            taskCosts.modelUsage(),
            taskCosts.costUsd(),
            duration(view),
            end.iterations().isMissingNode() ? null : end.iterations().intValue(),
            others.isEmpty() ? null : others));
  }

  private static ChatStatus status(TaskView view) {
    return ChatStatus.of(view.status(), view.error() == null ? null : view.error().code());
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
    return facts.started() ? facts.reason().orElse(status.wire()) : AgentEventMapper.NEVER_STARTED;
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
}
