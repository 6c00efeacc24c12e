package dev.parley.tool;

import dev.parley.protocol.ArtifactEvent;
import dev.parley.protocol.ArtifactId;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Json;
import dev.parley.protocol.ToolCallId;
import java.nio.file.Path;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// What a tool is given to work with, besides its arguments.
public interface ToolContext {

  /// The folder that the tool may look at, without symbolic links.
  Path workingDirectory();

  /// The context in which the call is made.
  ContextId context();

  /// Who the context belongs to: credentials are theirs.
  String owner();

  /// The call that is being made.
  ToolCallId call();

  /// The same for every attempt at this call, and for no other call.
  String key();

  /// The answer to what this call said it needs, if it said so and there is one.
  Optional<Answer> answer();

  /// Asks while the call goes on, and waits. For tools that cannot stop and be called again; others
  /// return [ToolResult.Needs], which survives a restart.
  Answer ask(Question question) throws InterruptedException;

  /// Says how far the call is: from 0 to 1. What would go back is left out.
  default void progress(double progress, @Nullable String message) {
    progress(progress, message, null);
  }

  /// The same, with `step`, `stepsCompleted`, `stepsTotal`, `stage` or `etaMs` in `metadata`.
  void progress(double progress, @Nullable String message, @Nullable ObjectNode metadata);

  /// Says how many steps of the call are done, of how many; `step` says in words what was done last.
  default void steps(String step, int completed, int total) {
    var metadata =
        Json.object().put("step", step).put("stepsCompleted", completed).put("stepsTotal", total);
    progress(total == 0 ? 0 : (double) completed / total, step, metadata);
  }

  /// Makes a thought known, durably.
  void think(Thought thought);

  /// Writes a piece of an artifact, durably, and returns the version it belongs to.
  ///
  /// `first` begins a new version.
  int write(ArtifactId artifact, boolean first, Piece piece);

  /// Makes the event that writes a piece.
  @FunctionalInterface
  interface Piece {
    ArtifactEvent of(int version);
  }
}
