package dev.parley.view;

import dev.parley.log.EventLog;
import dev.parley.protocol.ArtifactId;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Position;
import dev.parley.protocol.TaskId;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Answers questions about contexts. Views may lag behind the log; answers do not: each first takes in
/// what is new.
@SuppressWarnings("DoNotCallSuggester")
public final class Views implements AutoCloseable {

  /// Opens the views in `file`, which is made anew when it is missing, broken or of another version.
  public Views(Path file, EventLog log) {}

  /// The context.
  public ContextView context(ContextId context) {
    throw new IllegalStateException();
  }

  /// Contexts of these owners (all, if none are named), the one that changed last first.
  public Page<ContextView> contexts(Set<String> owners, @Nullable String cursor, int limit) {
    throw new IllegalStateException();
  }

  /// Messages after `after` (a seq), oldest first.
  public Page<MessageView> messages(ContextId context, long after, int limit) {
    throw new IllegalStateException();
  }

  /// The latest messages, oldest first.
  public List<MessageView> latestMessages(ContextId context, int limit) {
    throw new IllegalStateException();
  }

  /// One message, unless it is deleted, rewound or unknown.
  public Optional<MessageView> message(ContextId context, dev.parley.protocol.MessageId message) {
    throw new IllegalStateException();
  }

  /// Tasks, oldest first.
  public Page<TaskView> tasks(ContextId context, @Nullable String cursor, int limit) {
    throw new IllegalStateException();
  }

  /// One task.
  public Optional<TaskView> task(ContextId context, TaskId task) {
    throw new IllegalStateException();
  }

  /// The context that a task belongs to.
  public Optional<ContextId> contextOf(TaskId task) {
    throw new IllegalStateException();
  }

  /// Artifacts in their latest version, oldest first.
  public Page<ArtifactView> artifacts(ContextId context, @Nullable String cursor, int limit) {
    throw new IllegalStateException();
  }

  /// One version of an artifact, the latest if none is named.
  public Optional<ArtifactView> artifact(
      ContextId context, ArtifactId artifact, @Nullable Integer version) {
    throw new IllegalStateException();
  }

  /// The bytes of an artifact as one would save them: a file's own, data as JSON, rows as JSON lines.
  public byte[] content(ContextId context, ArtifactView artifact) {
    throw new IllegalStateException();
  }

  /// What the context's models cost.
  public List<UsageView> usage(ContextId context) {
    throw new IllegalStateException();
  }

  /// The context at `at`, or now.
  public Snapshot snapshot(ContextId context, @Nullable Position at, int messageLimit) {
    throw new IllegalStateException();
  }

  /// Forgets a context that was deleted, with its bytes.
  public void forget(ContextId context) {
    throw new IllegalStateException();
  }

  @Override
  public void close() {}
}
