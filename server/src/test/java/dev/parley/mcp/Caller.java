package dev.parley.mcp;

import dev.parley.protocol.ArtifactId;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Json;
import dev.parley.protocol.ToolCallId;
import dev.parley.tool.Answer;
import dev.parley.tool.Question;
import dev.parley.tool.Thought;
import dev.parley.tool.Tool;
import dev.parley.tool.ToolContext;
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
final class Caller implements ToolContext {

  /// A report of progress.
  record Told(double progress, @Nullable String message, @Nullable ObjectNode metadata) {}

  final BlockingQueue<Told> told = new LinkedBlockingQueue<>();
  final List<Question> questions = new CopyOnWriteArrayList<>();
  final CompletableFuture<Thread> asking = new CompletableFuture<>();
  private final String owner;
  private Answer answer = new Answer.Lapsed("nobody is here");
  private Optional<Answer> earlier = Optional.empty();
  private boolean patient;

  Caller(String owner) {
    this.owner = owner;
  }

  Caller() {
    this("local");
  }

  /// Sets the answer to questions during a call.
  Caller saying(Answer said) {
    answer = said;
    return this;
  }

  /// Never answers questions.
  Caller thinking() {
    patient = true;
    return this;
  }

  /// Sets the answer of an earlier attempt at the call.
  Caller after(Answer came) {
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
  public Optional<Answer> answer() {
    return earlier;
  }

  @Override
  public Answer ask(Question question) throws InterruptedException {
    questions.add(question);
    asking.complete(Thread.currentThread());
    if (patient) {
      new CountDownLatch(1).await();
    }
    return answer;
  }

  @Override
  public void progress(double progress, @Nullable String message, @Nullable ObjectNode metadata) {
    told.add(new Told(progress, message, metadata));
  }

  @Override
  public void think(Thought thought) {
    throw new UnsupportedOperationException();
  }

  @Override
  public int write(ArtifactId artifact, boolean first, Piece piece) {
    throw new UnsupportedOperationException();
  }
}
