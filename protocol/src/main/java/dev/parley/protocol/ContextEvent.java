package dev.parley.protocol;

import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// What happens to a context as a whole. `principal` is the person who did it, and is missing if the server did.
public sealed interface ContextEvent extends Event {

  /// A context begins to exist: always its first event.
  record ContextCreated(String owner, @Nullable String title, @Nullable ObjectNode metadata)
      implements ContextEvent {}

  /// A context was renamed or its metadata replaced.
  record ContextUpdated(
      @Nullable String title, @Nullable ObjectNode metadata, @Nullable String principal)
      implements ContextEvent {
    /// A change of nobody's.
    public ContextUpdated(@Nullable String title, @Nullable ObjectNode metadata) {
      this(title, metadata, null);
    }
  }

  /// What follows `toSeq` up to this event no longer counts, yet stays in the log.
  record ContextRewound(
      long toSeq,
      @Nullable TaskId beforeTaskId,
      @Nullable MessageId beforeMessageId,
      @Nullable ObjectNode stateDelta,
      @Nullable ObjectNode artifactDelta,
      @Nullable String principal)
      implements ContextEvent {
    /// A rewind of nobody's.
    public ContextRewound(
        long toSeq,
        @Nullable TaskId beforeTaskId,
        @Nullable MessageId beforeMessageId,
        @Nullable ObjectNode stateDelta,
        @Nullable ObjectNode artifactDelta) {
      this(toSeq, beforeTaskId, beforeMessageId, stateDelta, artifactDelta, null);
    }

    /// The same, done by this person.
    public ContextRewound by(String person) {
      return new ContextRewound(
          toSeq, beforeTaskId, beforeMessageId, stateDelta, artifactDelta, person);
    }
  }

  /// This context shares the events of another up to `atSeq`. It has an owner, and perhaps a title, of
  /// its own.
  record ContextForked(
      ContextId sourceContextId,
      long atSeq,
      @Nullable String owner,
      @Nullable String title,
      @Nullable String principal)
      implements ContextEvent {
    /// A fork that nobody made.
    public ContextForked(
        ContextId sourceContextId, long atSeq, @Nullable String owner, @Nullable String title) {
      this(sourceContextId, atSeq, owner, title, null);
    }
  }

  /// Keys of the context's state were set, or removed where the value is null.
  record StateUpdated(ObjectNode delta, @Nullable String principal) implements ContextEvent {
    /// A change of nobody's.
    public StateUpdated(ObjectNode delta) {
      this(delta, null);
    }
  }
}
