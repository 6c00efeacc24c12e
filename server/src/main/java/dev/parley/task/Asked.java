package dev.parley.task;

import dev.parley.protocol.AuthEvent.AuthRequired;
import dev.parley.protocol.InputEvent.InputRequired;
import dev.parley.protocol.ToolCallId;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// What the metadata of a question says of the tool call that it belongs to.
public final class Asked {

  /// In the metadata: the tool call for which it is asked.
  public static final String TOOL_CALL_ID = "toolCallId";

  /// In the metadata of an approval: the schema that edited arguments must fit.
  public static final String ARGUMENTS_SCHEMA = "argumentsSchema";

  /// The reason that an agent gets for a question that a person skipped.
  public static final String SKIPPED = "the person skipped this question";

  /// The reason that an agent gets for a question that a person declined to answer.
  public static final String DECLINED = "the person declined to answer";

  /// In the metadata: why it is asked.
  public static final String PURPOSE = "purpose";

  /// The purpose of a question that a tool call asks while it runs. Only the process that asked can take the answer.
  public static final String LIVE = "live";

  private Asked() {}

  /// True if a tool call asks this while it runs.
  public static boolean isLive(InputRequired required) {
    return required.metadata() != null
        && required.metadata().path(PURPOSE).asString("").equals(LIVE);
  }

  /// True if this answer says that the person does not want to answer: `{"declined": true}`.
  public static boolean declines(@Nullable JsonNode value) {
    return isOnly(value, "declined");
  }

  /// True if this answer says that the person skips the question: `{"skipped": true}`.
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

  /// The tool call for which this is asked, if it is for one.
  public static Optional<ToolCallId> by(InputRequired required) {
    return call(required.metadata());
  }

  /// The tool call for which this sign-in is asked, if it is for one.
  public static Optional<ToolCallId> by(AuthRequired required) {
    return call(required.metadata());
  }

  private static Optional<ToolCallId> call(@Nullable ObjectNode metadata) {
    var id = metadata == null ? "" : metadata.path(TOOL_CALL_ID).asString("");
    return id.isEmpty() ? Optional.empty() : Optional.of(new ToolCallId(id));
  }
}
