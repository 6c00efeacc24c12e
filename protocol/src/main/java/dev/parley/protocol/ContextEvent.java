package dev.parley.protocol;

import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// What happens to a context as a whole.
public sealed interface ContextEvent extends Event {

  /// A context begins to exist: always its first event.
  record ContextCreated(String owner, @Nullable String title, @Nullable ObjectNode metadata)
      implements ContextEvent {}

  /// A context was renamed or its metadata replaced.
  record ContextUpdated(@Nullable String title, @Nullable ObjectNode metadata)
      implements ContextEvent {}

  /// What follows `toSeq` up to this event no longer counts, yet stays in the log.
  record ContextRewound(
      long toSeq,
      @Nullable TaskId beforeTaskId,
      @Nullable MessageId beforeMessageId,
      @Nullable ObjectNode stateDelta,
      @Nullable ObjectNode artifactDelta)
      implements ContextEvent {}

  /// This context shares the events of another up to `atSeq`. It has an owner, and perhaps a title, of
  /// its own.
  record ContextForked(
      ContextId sourceContextId, long atSeq, @Nullable String owner, @Nullable String title)
      implements ContextEvent {}

  /// Keys of the context's state were set, or removed where the value is null.
  record StateUpdated(ObjectNode delta) implements ContextEvent {}
}
