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

/// A place to try tools at: a folder, what they wrote, and the answer to what they ask, if any.
public record Bench(
    Path workingDirectory,
    List<ArtifactEvent> written,
    List<Thought> thoughts,
    Optional<Answer> answer)
    implements ToolContext {

  public static Bench in(Path folder) throws IOException {
    return new Bench(folder.toRealPath(), new ArrayList<>(), new ArrayList<>(), Optional.empty());
  }

  /// The same place, but in another folder.
  public Bench workingIn(Path folder) {
    return new Bench(folder, written, thoughts, answer);
  }

  /// The same place, where this is the answer to what the tool asked.
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
    throw new AssertionError("it did not work: " + result);
  }

  public static String failed(ToolResult result) {
    if (result instanceof ToolResult.Failed(var message)) {
      return message;
    }
    throw new AssertionError("it did not fail: " + result);
  }
}
