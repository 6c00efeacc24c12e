package dev.parley.protocol;

import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// Marks an answer without text, in the metadata of the answer and of the task's end.
public final class EmptyAnswer {

  private static final String KEY = "empty";

  private EmptyAnswer() {}

  /// True if the metadata of an answer or of a task's end has the mark.
  static boolean in(@Nullable ObjectNode metadata) {
    return metadata != null && metadata.path(KEY).asBoolean(false);
  }

  /// Writes the mark into metadata.
  public static void put(ObjectNode metadata) {
    metadata.put(KEY, true);
  }
}
