package dev.parley.api.chat;

import dev.parley.projection.MessageView;
import dev.parley.projection.TaskView;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Json;
import dev.parley.protocol.MessageEvent.Role;
import dev.parley.protocol.MessageId;
import dev.parley.protocol.Timestamps;
import dev.parley.task.Submission.MessageLabel;
import java.time.Instant;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// A message of a conversation.
record ChatMessage(
    MessageId id,
    ContextId conversationId,
    Role role,
    String content,
    Instant createdAt,
    @Nullable ObjectNode metadata) {

  /// The message, with data of its task if that is known.
  static ChatMessage of(ContextId context, MessageView view, @Nullable TaskView task) {
    var metadata = Json.object();
    clientMetadata(view.metadata()).ifPresent(metadata::setAll);
    if (view.taskId() != null) {
      metadata.put("taskId", view.taskId().value());
    }
    if (view.agentId() != null) {
      var agent = view.agentId().value();
      metadata.put(
          "agentId", task == null ? agent : AnswerAuthor.of(task.metadata()).orElse(agent));
    }
    if (view.metadata() != null) {
      metadata.setAll(view.metadata());
      metadata.remove(MessageLabel.CLIENT);
    }
    if (view.role() == Role.ASSISTANT && task != null && metadata.has("usage")) {
      var usage = TaskCosts.of(task.metadata()).usage();
      metadata.set("usage", usage == null ? metadata.get("usage") : usage);
    }
    if (view.editedAt() != null) {
      metadata.put("editedAt", Timestamps.format(view.editedAt()));
    }
    if (view.role() == Role.USER && task != null) {
      addFailure(task, metadata);
    }
    return new ChatMessage(
        view.messageId(),
        context,
        view.role(),
        view.content(),
        view.createdAt(),
        metadata.isEmpty() ? null : metadata);
  }

  /// The metadata that the client sent with the message.
  static Optional<ObjectNode> clientMetadata(@Nullable ObjectNode metadata) {
    return Optional.ofNullable(metadata)
        .map(all -> all.path(MessageLabel.CLIENT))
        .filter(JsonNode::isObject)
        .map(JsonNode::asObject);
  }

  /// Marks a user's message as unanswered if its task failed, so that the history shows the reason.
  private static void addFailure(TaskView task, ObjectNode metadata) {
    var error = task.error();
    var status = ChatStatus.of(task.status(), error == null ? null : error.code());
    if (status.ended() && status != ChatStatus.SUCCESS) {
      metadata.put("status", status.wire());
      if (error != null) {
        metadata.put("error", error.message()).put("code", error.code().wire());
      }
    }
  }
}
