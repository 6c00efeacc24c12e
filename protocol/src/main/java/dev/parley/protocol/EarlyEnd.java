package dev.parley.protocol;

import dev.parley.protocol.ContentEvent.FinishReason;
import java.util.Arrays;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// Why a model stopped before its answer was complete. Stored in the metadata of the answer and of
/// the task's end.
public enum EarlyEnd implements WireName {
  /// The answer reached the output limit.
  LENGTH(
      FinishReason.LENGTH,
      "The model reached its output limit before it answered.",
      "the model reached its output limit"),
  /// A content filter of the provider stopped the answer.
  CONTENT_FILTER(
      FinishReason.CONTENT_FILTER,
      "A content filter removed the answer of the model.",
      "a content filter stopped the model"),
  /// The model declined to answer.
  REFUSAL(FinishReason.REFUSAL, "The model refused to answer.", "the model refused to continue");

  private static final String FINISH_REASON = "finishReason";
  private static final String TRUNCATED = "truncated";

  private final FinishReason reason;
  private final String explanation;
  private final String cause;

  EarlyEnd(FinishReason reason, String explanation, String cause) {
    this.reason = reason;
    this.explanation = explanation;
    this.cause = cause;
  }

  /// The reason for a block's end; empty if the model stopped normally or was stopped.
  public static Optional<EarlyEnd> of(@Nullable FinishReason reason) {
    return Arrays.stream(values()).filter(end -> end.reason == reason).findFirst();
  }

  /// The reason with this name, if there is one.
  public static Optional<EarlyEnd> find(String wire) {
    return WireName.find(EarlyEnd.class, wire);
  }

  /// The reason in the metadata of an answer or of a task's end, if any.
  static Optional<EarlyEnd> in(@Nullable ObjectNode metadata) {
    if (metadata == null) {
      return Optional.empty();
    }
    var name = metadata.path(FINISH_REASON).asString("");
    // Older logs have only the flag.
    return name.isEmpty() && metadata.path(TRUNCATED).asBoolean(false)
        ? Optional.of(LENGTH)
        : find(name);
  }

  /// Writes the reason into metadata.
  public void put(ObjectNode metadata) {
    metadata.put(FINISH_REASON, wire());
    if (this == LENGTH) {
      metadata.put(TRUNCATED, true);
    }
  }

  /// The finish reason of a block.
  public FinishReason reason() {
    return reason;
  }

  /// The text for the user if the answer is empty.
  public String explanation() {
    return explanation;
  }

  /// The note for a model that continues with the incomplete answer.
  public String note() {
    return "[This result is incomplete: " + cause + ".]";
  }
}
