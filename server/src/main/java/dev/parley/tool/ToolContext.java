package dev.parley.tool;

import dev.parley.protocol.ArtifactEvent;
import dev.parley.protocol.ArtifactId;
import dev.parley.protocol.ToolCallId;
import java.nio.file.Path;

/// What a tool is given to work with, besides its arguments.
public interface ToolContext {

  /// The folder that the tool may look at, without symbolic links.
  Path workingDirectory();

  /// The call that is being made.
  ToolCallId call();

  /// Says how far the call is: from 0 to 1. What would go back is left out.
  void progress(double progress, String message);

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
