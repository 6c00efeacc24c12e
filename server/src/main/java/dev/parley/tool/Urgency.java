package dev.parley.tool;

import dev.parley.protocol.TaskEvent.Priority;
import dev.parley.protocol.WireName;
import org.jspecify.annotations.Nullable;

/// How soon a person should answer a question: `urgency` in the metadata of `input-required`.
public enum Urgency implements WireName {
  LOW,
  MEDIUM,
  HIGH;

  /// In the metadata of a question.
  public static final String KEY = "urgency";

  /// The urgency of what a task of this priority asks, unless the question has its own.
  public static Urgency of(@Nullable Priority priority) {
    return switch (priority) {
      case null -> MEDIUM;
      case LOW -> LOW;
      case NORMAL -> MEDIUM;
      case HIGH, CRITICAL -> HIGH;
    };
  }
}
