package dev.parley.a2a;

import dev.parley.a2a.A2aTask.A2aStatus;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// The result of a call, or an item of a stream.
public sealed interface A2aResponseItem
    permits A2aTask,
        A2aMessage,
        A2aResponseItem.A2aStatusUpdate,
        A2aResponseItem.A2aArtifactUpdate {

  /// The status of a task changed. `last` marks the end of the stream; only 0.3 writes it.
  record A2aStatusUpdate(
      String taskId,
      String contextId,
      A2aStatus status,
      boolean last,
      @Nullable ObjectNode metadata)
      implements A2aResponseItem {}

  /// A chunk of an artifact: the first (`append` is false), a further one, or the last.
  record A2aArtifactUpdate(
      String taskId,
      String contextId,
      A2aArtifact artifact,
      boolean append,
      boolean lastChunk,
      @Nullable ObjectNode metadata)
      implements A2aResponseItem {}
}
