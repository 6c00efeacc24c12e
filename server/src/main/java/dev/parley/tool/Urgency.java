package dev.parley.tool;

import dev.parley.protocol.TaskEvent.Priority;
import dev.parley.protocol.WireName;
import org.jspecify.annotations.Nullable;

/// How soon a person should answer a question: `urgency` in the metadata of `input-required`.
public enum Urgency implements WireName {
  LOW,
  MEDIUM,
  HIGH;

  /// The default urgency of the questions of a task with this priority.
  public static Urgency of(@Nullable Priority priority) {
    return switch (priority) {
      case null -> MEDIUM;
      case LOW -> LOW;
      case NORMAL -> MEDIUM;
      case HIGH, CRITICAL -> HIGH;
    };
  }
}
