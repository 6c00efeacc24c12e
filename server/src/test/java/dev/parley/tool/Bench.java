package dev.parley.tool;

import dev.parley.protocol.ArtifactEvent;
import dev.parley.protocol.ArtifactId;
import dev.parley.protocol.ToolCallId;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import tools.jackson.databind.JsonNode;

/// A place to try one tool: remembers what it writes.
record Bench(Path workingDirectory, List<ArtifactEvent> written) implements ToolContext {

  static Bench in(Path folder) throws IOException {
    return new Bench(folder.toRealPath(), new ArrayList<>());
  }

  @Override
  public ToolCallId call() {
    return new ToolCallId("call");
  }

  @Override
  public void progress(double progress, String message) {}

  @Override
  public int write(ArtifactId artifact, boolean first, Piece piece) {
    written.add(piece.of(1));
    return 1;
  }

  static JsonNode done(ToolResult result) {
    return switch (result) {
      case ToolResult.Done(var value) -> value;
      case ToolResult.Failed(var message) -> throw new AssertionError(message);
    };
  }

  static String failed(ToolResult result) {
    return switch (result) {
      case ToolResult.Done(var value) -> throw new AssertionError("it worked: " + value);
      case ToolResult.Failed(var message) -> message;
    };
  }
}
