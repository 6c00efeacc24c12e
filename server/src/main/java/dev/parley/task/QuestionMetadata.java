package dev.parley.task;

import dev.parley.protocol.AuthEvent.AuthRequired;
import dev.parley.protocol.InputEvent.InputRequired;
import dev.parley.protocol.ToolCallId;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// The metadata of a question that belongs to a tool call.
public final class QuestionMetadata {

  /// In the metadata of a question: the id of the tool call that asks it.
  public static final String TOOL_CALL_ID = "toolCallId";

  /// In the metadata of an approval: the schema of the arguments, against which edited arguments
  /// are validated.
  public static final String ARGUMENTS_SCHEMA = "argumentsSchema";

  /// The reason that an agent receives for a question that a person skipped.
  public static final String SKIPPED = "the person skipped this question";

  /// The reason that an agent receives for a question that a person declined to answer.
  public static final String DECLINED = "the person declined to answer";

  /// In the metadata of a question: its purpose.
  public static final String PURPOSE = "purpose";

  /// The purpose of a question that a tool call asks while it runs. Only the process that asked can
  /// use the answer.
  public static final String LIVE = "live";

  private QuestionMetadata() {}

  /// True if a tool call asks this while it runs.
  public static boolean isLive(InputRequired required) {
    return required.metadata() != null
        && required.metadata().path(PURPOSE).asString("").equals(LIVE);
  }

  /// True if the person declines to answer: `{"declined": true}`.
  public static boolean declines(@Nullable JsonNode value) {
    return isOnly(value, "declined");
  }

  /// True if the person skips the question: `{"skipped": true}`.
  public static boolean skips(@Nullable JsonNode value) {
    return isOnly(value, "skipped");
  }

  private static boolean isOnly(@Nullable JsonNode value, String mark) {
    return value != null
        && value.isObject()
        && value.size() == 1
        && value.path(mark).isBoolean()
        && value.path(mark).asBoolean();
  }

  /// The tool call that asks this question, if any.
  public static Optional<ToolCallId> toolCallOf(InputRequired required) {
    return call(required.metadata());
  }

  /// The tool call that needs this sign-in, if any.
  public static Optional<ToolCallId> toolCallOf(AuthRequired required) {
    return call(required.metadata());
  }

  private static Optional<ToolCallId> call(@Nullable ObjectNode metadata) {
    var id = metadata == null ? "" : metadata.path(TOOL_CALL_ID).asString("");
    return id.isEmpty() ? Optional.empty() : Optional.of(new ToolCallId(id));
  }
}
