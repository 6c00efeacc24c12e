package dev.parley.agent;

import dev.parley.model.ModelReply;
import dev.parley.model.ModelRetry;
import dev.parley.model.ModelSink;
import dev.parley.model.ModelThought;
import dev.parley.protocol.BlockId;
import dev.parley.protocol.ContentEvent.ToolCall;
import dev.parley.protocol.Json;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.ThoughtEvent.InternalCheckpoint;
import dev.parley.protocol.ThoughtEvent.InternalThoughtProcess;
import dev.parley.protocol.ThoughtEvent.Stage;
import dev.parley.protocol.ToolCallId;
import dev.parley.task.TaskRun;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// Converts one turn of a model into events: a block of text, and thoughts. Not thread-safe.
public final class ModelOutputWriter implements ModelSink {

  /// The maximum number of characters of text and thoughts in one turn.
  static final int REPLY_MAX = 1_000_000;

  private final EventBatcher batcher;
  private final TaskOutput output;
  private final String model;
  private final @Nullable ToolCallId relatedCall;
  private long length;

  /// `replaces` is the block of an earlier attempt that the new block replaces. `about` is the call
  /// whose result the model received last, if this turn follows calls.
  public ModelOutputWriter(
      TaskRun taskRun,
      EventBatcher eventBatcher,
      ThoughtCounter thoughtCounter,
      String model,
      @Nullable BlockId replaces,
      @Nullable ToolCallId about) {
    this.model = model;
    this.batcher = eventBatcher;
    this.output = new TaskOutput(taskRun.sources(), thoughtCounter::next).replacing(replaces);
    this.relatedCall = about;
  }

  @Override
  public void text(String piece) throws InterruptedException {
    if (!piece.isEmpty()) {
      checkLength(piece);
      output.appendText(piece);
      write();
    }
  }

  @Override
  public void thinking(String piece) throws InterruptedException {
    if (!piece.isEmpty()) {
      checkLength(piece);
      output.appendThought(piece, related(Json.object().put("source", "model")));
      write();
    }
  }

  @Override
  public void thought(ModelThought whole) throws InterruptedException {
    checkLength(whole.content());
    output.addThought(whole.type(), whole.verbosity(), whole.content(), metadata(whole), null);
    write();
  }

  @Override
  public void retry(ModelRetry modelRetry) throws InterruptedException {
    output.abandonBlock();
    length = 0;
    RetryEvents.events(modelRetry, model).forEach(output::add);
    write();
  }

  /// The attempt failed: ends its block, if any. The next block replaces it.
  public void endFailedAttempt() throws InterruptedException {
    output.abandonBlock();
    write();
  }

  /// True if the current attempt has written text.
  public boolean hasText() {
    return output.hasOpenBlock();
  }

  private void write() throws InterruptedException {
    for (var event : output.take()) {
      batcher.write(event);
    }
  }

  /// Ends a model call whose output does not end.
  private void checkLength(String piece) {
    length += piece.length();
    if (length > REPLY_MAX) {
      throw new Rejection.TooLarge(
          "limit", "the model returned more than " + REPLY_MAX + " characters in one turn");
    }
  }

  /// Ends the turn; returns when all of it is durable. The end and the state for resuming are one
  /// append. `publicCalls` are the calls as public events show them.
  public void finish(
      ModelReply.ModelAnswer answer,
      List<ToolCall> calls,
      List<ToolCall> publicCalls,
      int iteration)
      throws InterruptedException {
    output.endTurn(answer.reason(), calls.isEmpty() ? null : publicCalls);
    var state = Json.object();
    if (answer.memo() != null) {
      state.set(ModelTaskHistory.MEMO, answer.memo());
    }
    PrivateArguments.put(state, calls, publicCalls);
    var events = new ArrayList<>(output.take());
    if (answer.usage().totalTokens() > 0) {
      events.add(answer.usage());
    }
    // An answer in the first turn needs no further report: its block and its usage say it all.
    if (iteration > 1 || !calls.isEmpty()) {
      events.add(reasoning(answer, calls, iteration));
    }
    if (!calls.isEmpty()) {
      events.add(next(calls, iteration));
    }
    if (iteration > 1 || !calls.isEmpty() || !state.isEmpty()) {
      events.add(new InternalCheckpoint(iteration, state.isEmpty() ? null : state));
    }
    batcher.writeTogether(events);
    batcher.flush();
  }

  private InternalThoughtProcess reasoning(
      ModelReply.ModelAnswer answer, List<ToolCall> calls, int iteration) {
    var tools = calls.stream().map(ToolCall::name).toList();
    var about =
        Json.object()
            .put("finishReason", answer.reason().wire())
            .put("characters", output.lastText().length())
            .put("inputTokens", answer.usage().inputTokens())
            .put("outputTokens", answer.usage().outputTokens());
    tools.forEach(about.putArray("tools")::add);
    var next = tools.isEmpty() ? "The model has answered." : "The model wants " + tools + ".";
    return new InternalThoughtProcess(iteration, Stage.POST_LLM, next, about);
  }

  private static InternalThoughtProcess next(List<ToolCall> calls, int iteration) {
    var about = Json.object().put("calls", calls.size());
    var ids = about.putArray("toolCallIds");
    calls.forEach(call -> ids.add(call.id().value()));
    var reasoning = "Tool calls to make: " + calls.size() + ".";
    return new InternalThoughtProcess(iteration, Stage.PRE_TOOL, reasoning, about);
  }

  private ObjectNode related(ObjectNode metadata) {
    return relatedCall == null ? metadata : metadata.put("relatedTo", relatedCall.value());
  }

  private @Nullable ObjectNode metadata(ModelThought modelThought) {
    var metadata = Json.object();
    if (modelThought.confidence() != null) {
      metadata.put("confidence", modelThought.confidence());
    }
    if (!modelThought.alternatives().isEmpty()) {
      modelThought.alternatives().forEach(metadata.putArray("alternatives")::add);
    }
    related(metadata);
    return metadata.isEmpty() ? null : metadata;
  }
}
