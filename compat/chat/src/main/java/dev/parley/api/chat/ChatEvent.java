package dev.parley.api.chat;

import com.fasterxml.jackson.annotation.JsonUnwrapped;
import dev.parley.api.chat.AgentEvent.AgentEventPayload;
import dev.parley.api.chat.AgentEvent.CancelledPayload;
import dev.parley.api.chat.AgentEvent.CompletedPayload;
import dev.parley.api.chat.AgentEvent.FailedPayload;
import dev.parley.api.chat.AgentEvent.OutputPayload;
import dev.parley.api.chat.AgentEvent.StartedPayload;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.MessageId;
import dev.parley.protocol.ReportEvent.ErrorCode;
import dev.parley.protocol.TaskId;
import java.time.Instant;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// An event in the stream of a conversation: the fields that every event has, followed by those of
/// its type. Missing fields are not written.
record ChatEvent(
    String type,
    ContextId conversationId,
    @Nullable TaskId taskId,
    @Nullable TaskId parentTaskId,
    UUID eventId,
    Instant timestamp,
    @Nullable String agentId,
    @JsonUnwrapped @Nullable ChatEventBody body) {

  ChatEvent withType(String other) {
    return new ChatEvent(
        other, conversationId, taskId, parentTaskId, eventId, timestamp, agentId, body);
  }

  /// The fields of one type of event.
  sealed interface ChatEventBody
      permits OutputPayload,
          MessageBody,
          ConversationBody,
          StartedBody,
          ProgressBody,
          ToolBody,
          SubagentBody,
          TaskCompletedBody,
          CompletedBody,
          FailedBody,
          CancelledBody {}

  /// A message was sent, edited or deleted.
  record MessageBody(
      MessageId messageId,
      @Nullable TaskId taskId,
      @Nullable String content,
      @Nullable String stage)
      implements ChatEventBody {}

  /// A conversation was renamed or rewound.
  record ConversationBody(
      @Nullable String title, @Nullable MessageId messageId, @Nullable RewindData data)
      implements ChatEventBody {}

  record RewindData(long toSeq) {}

  record StartedBody(String agentName, String content, StartedPayload data)
      implements ChatEventBody {}

  record ProgressBody(
      String content, @Nullable JsonNode percentage, String stage, @Nullable Object metadata)
      implements ChatEventBody {}

  record ToolBody(String tool, AgentEventPayload data) implements ChatEventBody {}

  record SubagentBody(
      @Nullable TaskId parentTaskId, @Nullable String agentName, AgentEventPayload data)
      implements ChatEventBody {}

  record TaskCompletedBody(String content, CompletedPayload data) implements ChatEventBody {}

  /// The message of a root task has its answer.
  record CompletedBody(@Nullable MessageId messageId, @Nullable ObjectNode metadata, String content)
      implements ChatEventBody {}

  /// A task failed. `messageId`, `content` and `partial` describe its partial answer.
  record FailedBody(
      String error,
      @Nullable ErrorCode code,
      boolean recoverable,
      FailedPayload data,
      @Nullable MessageId messageId,
      @Nullable String content,
      @Nullable Boolean partial)
      implements ChatEventBody {}

  /// A task was canceled. `messageId`, `content` and `partial` describe its partial answer.
  record CancelledBody(
      CancelledPayload data,
      @Nullable MessageId messageId,
      @Nullable String content,
      @Nullable Boolean partial)
      implements ChatEventBody {}
}
