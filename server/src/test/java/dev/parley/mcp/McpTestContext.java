package dev.parley.mcp;

import dev.parley.protocol.ArtifactId;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Json;
import dev.parley.protocol.ToolCallId;
import dev.parley.tool.Tool;
import dev.parley.tool.ToolAnswer;
import dev.parley.tool.ToolContext;
import dev.parley.tool.ToolContext.ToolThought;
import dev.parley.tool.ToolQuestion;
import dev.parley.tool.ToolResult;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// A tool context that records progress and questions, and returns prepared answers.
final class McpTestContext implements ToolContext {

  /// A report of progress.
  record ProgressReport(double progress, @Nullable String message, @Nullable ObjectNode metadata) {}

  final BlockingQueue<ProgressReport> reports = new LinkedBlockingQueue<>();
  final List<ToolQuestion> questions = new CopyOnWriteArrayList<>();
  final CompletableFuture<Thread> asking = new CompletableFuture<>();
  private final String owner;
  private ToolAnswer toolAnswer = new ToolAnswer.Lapsed("nobody is here");
  private Optional<ToolAnswer> earlier = Optional.empty();
  private boolean patient;

  McpTestContext(String owner) {
    this.owner = owner;
  }

  McpTestContext() {
    this("local");
  }

  /// Sets the answer to questions during a call.
  McpTestContext answering(ToolAnswer said) {
    toolAnswer = said;
    return this;
  }

  /// Never answers questions.
  McpTestContext neverAnswering() {
    patient = true;
    return this;
  }

  /// Sets the answer of an earlier attempt at the call.
  McpTestContext after(ToolAnswer came) {
    earlier = Optional.of(came);
    return this;
  }

  ToolResult call(Tool tool, String arguments) throws InterruptedException {
    return tool.call((ObjectNode) Json.mapper().readTree(arguments), this);
  }

  /// Calls the tool on another thread.
  CompletableFuture<Object> begin(Tool tool, String arguments, CompletableFuture<Thread> thread) {
    var outcome = new CompletableFuture<Object>();
    thread.complete(
        Thread.ofVirtual()
            .start(
                () -> {
                  try {
                    outcome.complete(call(tool, arguments));
                  } catch (InterruptedException | RuntimeException ended) {
                    outcome.complete(ended);
                  }
                }));
    return outcome;
  }

  @Override
  public Path workingDirectory() {
    return Path.of("").toAbsolutePath();
  }

  @Override
  public ContextId context() {
    return new ContextId("context-of-" + owner);
  }

  @Override
  public String owner() {
    return owner;
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
  public Optional<ToolAnswer> answer() {
    return earlier;
  }

  @Override
  public ToolAnswer ask(ToolQuestion toolQuestion) throws InterruptedException {
    questions.add(toolQuestion);
    asking.complete(Thread.currentThread());
    if (patient) {
      new CountDownLatch(1).await();
    }
    return toolAnswer;
  }

  @Override
  public void progress(double progress, @Nullable String message, @Nullable ObjectNode metadata) {
    reports.add(new ProgressReport(progress, message, metadata));
  }

  @Override
  public void reportThought(ToolThought toolThought) {
    throw new UnsupportedOperationException();
  }

  @Override
  public int write(ArtifactId artifact, boolean first, ArtifactPiece artifactPiece) {
    throw new UnsupportedOperationException();
  }
}
