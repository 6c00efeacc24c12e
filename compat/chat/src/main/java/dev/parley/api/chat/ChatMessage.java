package dev.parley.api.chat;

import dev.parley.api.chat.ChatTaskResults.ChatStatus;
import dev.parley.api.chat.ChatTaskResults.TaskCosts;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Json;
import dev.parley.protocol.MessageEvent.Role;
import dev.parley.protocol.MessageFacts;
import dev.parley.protocol.MessageId;
import dev.parley.protocol.MessageView;
import dev.parley.protocol.TaskView;
import dev.parley.protocol.Timestamps;
import java.time.Instant;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
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
    view.facts().client().ifPresent(metadata::setAll);
    if (view.taskId() != null) {
      metadata.put("taskId", view.taskId().value());
    }
    if (view.agentId() != null) {
      var agent = view.agentId().value();
      metadata.put(
          "agentId",
          task == null ? agent : ChatTaskResults.answerAuthor(task.endFacts()).orElse(agent));
    }
    if (view.metadata() != null) {
      metadata.setAll(view.metadata());
      MessageFacts.removeClient(metadata);
    }
    if (view.role() == Role.ASSISTANT && task != null && view.facts().hasUsage()) {
      Optional.ofNullable(TaskCosts.of(task.endFacts()).usage())
          .ifPresent(usage -> metadata.set("usage", usage));
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

  /// Marks a user's message as unanswered if its task failed, so that the history shows the reason.
  private static void addFailure(TaskView task, ObjectNode metadata) {
    var error = task.error();
    var status = ChatStatus.of(task);
    if (status.ended() && status != ChatStatus.SUCCESS) {
      metadata.put("status", status.wire());
      if (error != null) {
        metadata.put("error", error.message()).put("code", error.code());
      }
    }
  }
}
