package dev.parley.protocol;

import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// What the metadata of `input-received` says. The keys are known only here.
public final class AnswerFacts {

  private static final String MESSAGE_ID = "messageId";
  private static final String TOOL_CALL_ID = "toolCallId";

  private final MetadataFields fields;

  private AnswerFacts(@Nullable ObjectNode metadata) {
    fields = new MetadataFields(metadata);
  }

  /// The facts in the metadata of an answer.
  public static AnswerFacts of(@Nullable ObjectNode metadata) {
    return new AnswerFacts(metadata);
  }

  /// The result of a client's tool, which the client sent as a message.
  public record ToolMessage(String messageId, String toolCallId) {}

  /// The client's id for the run.
  public Optional<String> runId() {
    return fields.text(MetadataFields.RUN_ID);
  }

  /// The message that contained the answer, if it is the result of a client's tool.
  public Optional<ToolMessage> toolMessage() {
    return fields.has(MESSAGE_ID)
        ? Optional.of(
            new ToolMessage(
                fields.text(MESSAGE_ID).orElse(""), fields.text(TOOL_CALL_ID).orElse("")))
        : Optional.empty();
  }

  /// The fields that only the API of that name writes and reads.
  public Optional<ObjectNode> extension(String api) {
    return fields.object(api);
  }

  /// The metadata of an answer that a client gave in a run.
  public static ObjectNode ofRun(String run) {
    return Json.object().put(MetadataFields.RUN_ID, run);
  }

  /// The metadata of an answer that a client sent as a message in a run.
  public static ObjectNode ofToolMessage(String run, String messageId, @Nullable String call) {
    return ofRun(run).put(MESSAGE_ID, messageId).put(TOOL_CALL_ID, call);
  }
}
