package dev.parley.task;

import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/// Recognizes the answers of a person who declines or skips a question.
public final class DeclinedAnswer {

  /// The reason that an agent receives for a question that a person skipped.
  public static final String SKIPPED = "the person skipped this question";

  /// The reason that an agent receives for a question that a person declined to answer.
  public static final String DECLINED = "the person declined to answer";

  private DeclinedAnswer() {}

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
}
