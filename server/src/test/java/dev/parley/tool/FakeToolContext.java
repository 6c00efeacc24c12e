package dev.parley.tool;

import dev.parley.protocol.ArtifactEvent;
import dev.parley.protocol.ArtifactId;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.ToolCallId;
import dev.parley.tool.ToolContext.ToolThought;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// A tool context for tests: a folder, the events that tools wrote, and the answer to their
/// questions, if any.
public record FakeToolContext(
    Path workingDirectory,
    List<ArtifactEvent> written,
    List<ToolThought> thoughts,
    Optional<ToolAnswer> answer)
    implements ToolContext {

  public static FakeToolContext in(Path folder) throws IOException {
    return new FakeToolContext(
        folder.toRealPath(), new ArrayList<>(), new ArrayList<>(), Optional.empty());
  }

  /// A copy with another folder.
  public FakeToolContext withFolder(Path folder) {
    return new FakeToolContext(folder, written, thoughts, answer);
  }

  /// A copy with this answer to the question of the tool.
  public FakeToolContext answering(ToolAnswer given) {
    return new FakeToolContext(workingDirectory, written, thoughts, Optional.of(given));
  }

  @Override
  public ContextId context() {
    return new ContextId("context");
  }

  @Override
  public String owner() {
    return "local";
  }

  @Override
  public ToolCallId call() {
    return new ToolCallId("call");
  }

  @Override
  public String key() {
    return "task/call";
  }

  @Override
  public ToolAnswer ask(ToolQuestion toolQuestion) {
    return answer.orElseGet(() -> new ToolAnswer.Lapsed("nobody is here"));
  }

  @Override
  public void progress(double progress, @Nullable String message, @Nullable ObjectNode metadata) {}

  @Override
  public void reportThought(ToolThought toolThought) {
    thoughts.add(toolThought);
  }

  @Override
  public int write(ArtifactId artifact, boolean first, ArtifactPiece artifactPiece) {
    written.add(artifactPiece.of(1));
    return 1;
  }

  public static JsonNode done(ToolResult result) {
    if (result instanceof ToolResult.Done(var value)) {
      return value;
    }
    throw new AssertionError("the call did not succeed: " + result);
  }

  public static String failed(ToolResult result) {
    if (result instanceof ToolResult.Failed(var message)) {
      return message;
    }
    throw new AssertionError("the call did not fail: " + result);
  }
}
