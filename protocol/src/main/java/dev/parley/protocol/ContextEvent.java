package dev.parley.protocol;

import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// A change of a context as a whole. `principal` is the user who made it; missing if the server
/// did.
public sealed interface ContextEvent extends Event {

  /// A context was created. It is always the first event.
  record ContextCreated(String owner, @Nullable String title, @Nullable ObjectNode metadata)
      implements ContextEvent {}

  /// The title of a context was changed, or its metadata was replaced.
  record ContextUpdated(
      @Nullable String title, @Nullable ObjectNode metadata, @Nullable String principal)
      implements ContextEvent {
    /// A change that no user made.
    public ContextUpdated(@Nullable String title, @Nullable ObjectNode metadata) {
      this(title, metadata, null);
    }
  }

  /// The events after `toSeq` and before this event no longer count, but stay in the log.
  record ContextRewound(
      long toSeq,
      @Nullable TaskId beforeTaskId,
      @Nullable MessageId beforeMessageId,
      @Nullable ObjectNode stateDelta,
      @Nullable ObjectNode artifactDelta,
      @Nullable String principal)
      implements ContextEvent {
    /// A rewind that no user made.
    public ContextRewound(
        long toSeq,
        @Nullable TaskId beforeTaskId,
        @Nullable MessageId beforeMessageId,
        @Nullable ObjectNode stateDelta,
        @Nullable ObjectNode artifactDelta) {
      this(toSeq, beforeTaskId, beforeMessageId, stateDelta, artifactDelta, null);
    }

    /// The same rewind, made by this user.
    public ContextRewound by(String person) {
      return new ContextRewound(
          toSeq, beforeTaskId, beforeMessageId, stateDelta, artifactDelta, person);
    }
  }

  /// This context shares the events of another context up to `atSeq`.
  record ContextForked(
      ContextId sourceContextId,
      long atSeq,
      @Nullable String owner,
      @Nullable String title,
      @Nullable String principal)
      implements ContextEvent {
    /// A fork that no user made.
    public ContextForked(
        ContextId sourceContextId, long atSeq, @Nullable String owner, @Nullable String title) {
      this(sourceContextId, atSeq, owner, title, null);
    }
  }

  /// Keys of the context's state were set, or removed if their value is null.
  record StateUpdated(ObjectNode delta, @Nullable String principal) implements ContextEvent {
    /// A change that no user made.
    public StateUpdated(ObjectNode delta) {
      this(delta, null);
    }
  }
}
