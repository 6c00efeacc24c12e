package dev.parley.task;

import dev.parley.protocol.WireName;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// What happens to a task when its question expires without an answer.
public enum WhenLapsed implements WireName {
  /// The tool call that asked fails, and the agent continues without the answer.
  CONTINUE,
  /// The task fails.
  FAIL;

  /// In the metadata of a question: the choice for this question, which overrides the default.
  public static final String KEY = "whenLapsed";

  /// The choice for a question with this metadata.
  static WhenLapsed of(@Nullable ObjectNode metadata, WhenLapsed usual) {
    var wanted = metadata == null ? "" : metadata.path(KEY).asString("");
    for (var choice : values()) {
      if (choice.wire().equals(wanted)) {
        return choice;
      }
    }
    return usual;
  }
}
