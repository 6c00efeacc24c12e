package dev.parley.api.agents;

import com.fasterxml.jackson.annotation.JsonUnwrapped;
import dev.parley.api.agents.AgentInfo.AgentStatus;
import dev.parley.projection.UsageTotals;
import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.ArtifactId;
import dev.parley.protocol.BlockId;
import dev.parley.protocol.ContentEvent.FinishReason;
import dev.parley.protocol.ReportEvent.ErrorCode;
import dev.parley.protocol.ReportEvent.ErrorScope;
import dev.parley.protocol.ReportEvent.Usage;
import dev.parley.protocol.TaskEndFacts;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.ThoughtEvent.ThoughtType;
import dev.parley.protocol.ThoughtId;
import dev.parley.protocol.ToolCallId;
import dev.parley.protocol.ToolEvent.Outcome;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// A message of an agent: one numbered event, or several that were merged. Missing fields are not
/// written.
///
/// @param content a string or a JSON object or array
/// @param raw the program's line that the message comes from
/// @param metadata a [MessageMetadata], or the same as JSON with further fields
/// @param firstSequenceNumber the number of the first of several merged messages
/// @param tokenCount how many messages were merged
record AgentMessage(
    UUID id,
    TaskId agentId,
    long sequenceNumber,
    String type,
    String role,
    JsonNode content,
    @Nullable String raw,
    Object metadata,
    Instant createdAt,
    @Nullable Long firstSequenceNumber,
    @Nullable Long tokenCount) {

  /// The same message with other texts, and without its line.
  AgentMessage corrected(JsonNode newContent, JsonNode newMetadata) {
    return new AgentMessage(
        id,
        agentId,
        sequenceNumber,
        type,
        role,
        newContent,
        null,
        newMetadata,
        createdAt,
        firstSequenceNumber,
        tokenCount);
  }

  /// The fields of one type of event, followed by those that describe its task.
  record MessageMetadata(
      @JsonUnwrapped EventMetadata event,
      @Nullable TaskId taskId,
      @Nullable Boolean subagent,
      @Nullable AgentTypeId agentType,
      @Nullable ToolCallId parent_tool_use_id) {}

  /// The fields of one type of event.
  sealed interface EventMetadata {}

  record PromptMetadata(String eventType) implements EventMetadata {}

  /// A delta of a block of text, or the end of an interrupted block.
  record BlockMetadata(
      String eventType,
      @Nullable BlockId blockId,
      @Nullable Integer index,
      @Nullable Boolean partial,
      @Nullable FinishReason finishReason)
      implements EventMetadata {}

  record ToolUseMetadata(String eventType, ToolUse tool_use) implements EventMetadata {}

  record ToolUse(ToolCallId id, String name, ObjectNode input, @Nullable String callId) {}

  record ToolProgressMetadata(String eventType, ToolCallId tool_use_id, double progress)
      implements EventMetadata {}

  record ToolResultMetadata(String eventType, ToolUseResult tool_result) implements EventMetadata {}

  record ToolUseResult(
      ToolCallId tool_use_id,
      String name,
      boolean is_error,
      @Nullable String callId,
      @Nullable Outcome outcome) {}

  record ThoughtMetadata(String eventType, ThoughtId thoughtId, ThoughtType thoughtType)
      implements EventMetadata {}

  record UsageMetadata(
      String eventType,
      String model,
      ObjectNode delta,
      TokenUsage usage,
      @Nullable BigDecimal costUsd)
      implements EventMetadata {}

  record ErrorMetadata(
      String eventType,
      ErrorCode code,
      ErrorScope scope,
      boolean retryable,
      @Nullable ToolCallId tool_use_id)
      implements EventMetadata {}

  record ResultMetadata(
      String eventType,
      AgentStatus status,
      @Nullable String reason,
      @JsonUnwrapped TaskStatistics statistics,
      @Nullable List<ArtifactId> artifacts)
      implements EventMetadata {

    ResultMetadata {
      artifacts = artifacts == null || artifacts.isEmpty() ? null : List.copyOf(artifacts);
    }
  }

  /// A question or its answer, with all fields of the event.
  record QuestionMetadata(String eventType, @Nullable ObjectNode input, @Nullable ObjectNode auth)
      implements EventMetadata {}

  record ArtifactMetadata(
      String eventType,
      ArtifactId artifactId,
      String artifactType,
      boolean complete,
      @Nullable String name)
      implements EventMetadata {}

  record SubtaskMetadata(
      String eventType,
      TaskId subtaskId,
      @Nullable AgentTypeId subtaskAgent,
      @Nullable AgentStatus status,
      @Nullable String error)
      implements EventMetadata {}

  /// The statistics in a task's last event, which include its subtasks.
  record TaskStatistics(
      @Nullable JsonNode duration,
      @Nullable JsonNode num_turns,
      @Nullable BigDecimal total_cost_usd,
      @Nullable TokenUsage usage) {

    static TaskStatistics of(TaskEndFacts end) {
      var total = UsageTotals.atEnd(end).total();
      return new TaskStatistics(
          end.duration().isNumber() ? end.duration() : null,
          end.iterations().isNumber() ? end.iterations() : null,
          total == null ? null : total.costUsd(),
          total == null ? null : TokenUsage.of(total));
    }
  }

  record TokenUsage(
      long input_tokens,
      long output_tokens,
      @Nullable Long cache_creation_input_tokens,
      @Nullable Long cache_read_input_tokens) {

    static TokenUsage of(Usage usage) {
      return new TokenUsage(
          usage.inputTokens(),
          usage.outputTokens(),
          usage.cacheCreationInputTokens(),
          usage.cacheReadInputTokens());
    }
  }
}
