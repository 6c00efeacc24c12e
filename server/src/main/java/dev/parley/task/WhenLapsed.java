package dev.parley.task;

import dev.parley.protocol.WireName;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// What becomes of a task that asked for something when its time is up and nobody gave it.
public enum WhenLapsed implements WireName {
  /// The call for which it asked fails, and the agent goes on without.
  CONTINUE,
  /// The task fails.
  FAIL;

  /// In the metadata of a question: what holds for it, whatever holds for others.
  public static final String KEY = "whenLapsed";

  /// What holds for a question with this metadata.
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
