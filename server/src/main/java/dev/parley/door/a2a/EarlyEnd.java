package dev.parley.door.a2a;

import dev.parley.protocol.ContentEvent.FinishReason;
import dev.parley.protocol.Json;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// Why the model ended an answer before it was complete, as the metadata of messages and tasks reports it.
///
/// @param reason `length`, `content-filter` or `refusal`; empty for a complete answer
record EarlyEnd(String reason) {

  static final EarlyEnd NONE = new EarlyEnd("");

  private static final String REASON = "finishReason";
  private static final String TRUNCATED = "truncated";
  private static final String LENGTH = "length";
  private static final String FILTER = "content-filter";
  private static final String REFUSAL = "refusal";

  /// What the metadata of a message or of a task's end in the log reports.
  static EarlyEnd of(@Nullable ObjectNode metadata) {
    if (metadata == null) {
      return NONE;
    }
    return switch (metadata.path(REASON).asString("")) {
      case LENGTH -> new EarlyEnd(LENGTH);
      case FILTER, "content_filter" -> new EarlyEnd(FILTER);
      case REFUSAL -> new EarlyEnd(REFUSAL);
      // Older logs have only the flag.
      default -> metadata.path(TRUNCATED).asBoolean(false) ? new EarlyEnd(LENGTH) : NONE;
    };
  }

  /// What the end of a text reports.
  static EarlyEnd of(@Nullable FinishReason reason) {
    return switch (reason) {
      case LENGTH -> new EarlyEnd(LENGTH);
      case CONTENT_FILTER -> new EarlyEnd(FILTER);
      case STOP, TOOL_CALLS, INTERRUPTED, CANCELED -> NONE;
      case null -> NONE;
    };
  }

  EarlyEnd or(EarlyEnd other) {
    return early() ? this : other;
  }

  boolean early() {
    return !reason.isEmpty();
  }

  /// What explains an answer without any text.
  String explanation() {
    return switch (reason) {
      case LENGTH -> "The model reached its output limit before it answered.";
      case FILTER -> "A content filter removed the answer of the model.";
      case REFUSAL -> "The model refused to answer.";
      default -> "";
    };
  }

  /// The metadata with the reason added; the same metadata if there is none.
  @Nullable ObjectNode addedTo(@Nullable ObjectNode metadata) {
    if (!early()) {
      return metadata;
    }
    var all = metadata == null ? Json.object() : metadata.deepCopy();
    all.put(REASON, reason);
    if (reason.equals(LENGTH)) {
      all.put(TRUNCATED, true);
    }
    return all;
  }
}
