package dev.parley.tool;

import dev.parley.protocol.ArtifactEvent;
import dev.parley.protocol.ArtifactId;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Json;
import dev.parley.protocol.ThoughtEvent.ThoughtType;
import dev.parley.protocol.ThoughtEvent.Verbosity;
import dev.parley.protocol.ThoughtEvent.Visibility;
import dev.parley.protocol.ToolCallId;
import java.nio.file.Path;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// The environment of a tool call, besides its arguments.
public interface ToolContext {

  /// The working directory, without symbolic links.
  Path workingDirectory();

  /// The context in which the call is made.
  ContextId context();

  /// The owner of the context, whose credentials are used.
  String owner();

  /// The call that is being made.
  ToolCallId call();

  /// A key that is the same for every attempt at this call, and different for every other call.
  String key();

  /// The answer to the question of this call, if it asked one and there is an answer.
  Optional<ToolAnswer> answer();

  /// Asks a question during the call, and waits. For tools that cannot stop and be called again;
  /// other tools return [ToolResult.NeedsAnswer], which survives a restart.
  ToolAnswer ask(ToolQuestion toolQuestion) throws InterruptedException;

  /// Reports the progress of the call, from 0 to 1. Values that would go back are ignored.
  default void progress(double progress, @Nullable String message) {
    progress(progress, message, null);
  }

  /// The same, with `step`, `stepsCompleted`, `stepsTotal`, `stage` or `etaMs` in `metadata`.
  void progress(double progress, @Nullable String message, @Nullable ObjectNode metadata);

  /// Reports how many of the steps are complete; `step` describes the last one.
  default void steps(String step, int completed, int total) {
    var metadata =
        Json.object().put("step", step).put("stepsCompleted", completed).put("stepsTotal", total);
    progress(total == 0 ? 0 : (double) completed / total, step, metadata);
  }

  /// Publishes a thought, durably.
  void reportThought(ToolThought toolThought);

  /// Writes a piece of an artifact, durably, and returns the version it belongs to.
  ///
  /// `first` begins a new version.
  int write(ArtifactId artifact, boolean first, ArtifactPiece artifactPiece);

  /// Creates the event that writes a piece.
  @FunctionalInterface
  interface ArtifactPiece {
    ArtifactEvent of(int version);
  }

  /// A piece of reasoning that a tool publishes.
  ///
  /// `relatedTo` is the id of the tool call or of the thought that it refers to. With `visibility`
  /// `internal`, only readers of internal events see it.
  record ToolThought(
      ThoughtType type,
      Verbosity verbosity,
      String content,
      @Nullable Double confidence,
      @Nullable String relatedTo,
      @Nullable Visibility visibility) {

    /// A thought that is visible to everyone and refers to nothing.
    public ToolThought(
        ThoughtType type, Verbosity verbosity, String content, @Nullable Double confidence) {
      this(type, verbosity, content, confidence, null, null);
    }

    /// The metadata of its event.
    public ObjectNode metadata() {
      var metadata = Json.object();
      if (confidence != null) {
        metadata.put("confidence", confidence);
      }
      if (relatedTo != null) {
        metadata.put("relatedTo", relatedTo);
      }
      return metadata;
    }
  }
}
