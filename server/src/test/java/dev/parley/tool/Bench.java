package dev.parley.tool;

import dev.parley.protocol.ArtifactEvent;
import dev.parley.protocol.ArtifactId;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.ToolCallId;
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
public record Bench(
    Path workingDirectory,
    List<ArtifactEvent> written,
    List<Thought> thoughts,
    Optional<Answer> answer)
    implements ToolContext {

  public static Bench in(Path folder) throws IOException {
    return new Bench(folder.toRealPath(), new ArrayList<>(), new ArrayList<>(), Optional.empty());
  }

  /// A copy with another folder.
  public Bench workingIn(Path folder) {
    return new Bench(folder, written, thoughts, answer);
  }

  /// A copy with this answer to the question of the tool.
  public Bench answering(Answer given) {
    return new Bench(workingDirectory, written, thoughts, Optional.of(given));
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
  public Answer ask(Question question) {
    return answer.orElseGet(() -> new Answer.Lapsed("nobody is here"));
  }

  @Override
  public void progress(double progress, @Nullable String message, @Nullable ObjectNode metadata) {}

  @Override
  public void think(Thought thought) {
    thoughts.add(thought);
  }

  @Override
  public int write(ArtifactId artifact, boolean first, Piece piece) {
    written.add(piece.of(1));
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
