package dev.parley.agent;

import dev.parley.model.ModelReply;
import dev.parley.model.ModelRetry;
import dev.parley.model.ModelSink;
import dev.parley.model.ModelThought;
import dev.parley.protocol.BlockId;
import dev.parley.protocol.ContentEvent.ContentComplete;
import dev.parley.protocol.ContentEvent.ContentDelta;
import dev.parley.protocol.ContentEvent.FinishReason;
import dev.parley.protocol.ContentEvent.ToolCall;
import dev.parley.protocol.Event;
import dev.parley.protocol.Json;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.ThoughtEvent.InternalCheckpoint;
import dev.parley.protocol.ThoughtEvent.InternalThoughtProcess;
import dev.parley.protocol.ThoughtEvent.Stage;
import dev.parley.protocol.ThoughtEvent.ThoughtStream;
import dev.parley.protocol.ThoughtEvent.ThoughtType;
import dev.parley.protocol.ThoughtEvent.Verbosity;
import dev.parley.protocol.ThoughtId;
import dev.parley.protocol.ToolCallId;
import dev.parley.task.ClockAndIds;
import dev.parley.task.TaskRun;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// Converts one turn of a model into events: a block of text, and thoughts. Not thread-safe.
final class ModelOutputWriter implements ModelSink {

  /// The maximum number of characters of text and thoughts in one turn.
  static final int REPLY_MAX = 1_000_000;

  private final TaskRun taskRun;
  private final EventBatcher batcher;
  private final ThoughtCounter thoughtCounter;
  private final ClockAndIds clockAndIds;
  private final String model;
  private BlockId block;
  private @Nullable BlockId replaces;
  private final StringBuilder text = new StringBuilder();
  private long length;
  private int deltas;
  private @Nullable ThoughtId thinking;
  private final @Nullable ToolCallId relatedCall;

  /// `replaces` is the block of an earlier attempt that the new block replaces. `about` is the call
  /// whose result the model received last, if this turn follows calls.
  ModelOutputWriter(
      TaskRun taskRun,
      EventBatcher eventBatcher,
      ThoughtCounter thoughtCounter,
      String model,
      @Nullable BlockId replaces,
      @Nullable ToolCallId about) {
    this.taskRun = taskRun;
    this.model = model;
    this.replaces = replaces;
    this.batcher = eventBatcher;
    this.clockAndIds = taskRun.sources();
    this.block = clockAndIds.blockId();
    this.thoughtCounter = thoughtCounter;
    this.relatedCall = about;
  }

  @Override
  public void text(String piece) throws InterruptedException {
    thinking = null;
    if (!piece.isEmpty()) {
      checkLength(piece);
      text.append(piece);
      batcher.write(new ContentDelta(piece, deltas++, block));
    }
  }

  @Override
  public void thinking(String piece) throws InterruptedException {
    if (!piece.isEmpty()) {
      checkLength(piece);
      if (thinking == null) {
        thinking = clockAndIds.thoughtId();
      }
      batcher.write(
          new ThoughtStream(
              thinking,
              ThoughtType.THINKING,
              Verbosity.DETAILED,
              piece,
              thoughtCounter.next(),
              related(Json.object().put("source", "model")),
              null));
    }
  }

  @Override
  public void thought(ModelThought whole) throws InterruptedException {
    thinking = null;
    checkLength(whole.content());
    batcher.write(
        new ThoughtStream(
            clockAndIds.thoughtId(),
            whole.type(),
            whole.verbosity(),
            whole.content(),
            thoughtCounter.next(),
            metadata(whole),
            null));
  }

  @Override
  public void retry(ModelRetry modelRetry) throws InterruptedException {
    endFailedAttempt();
    thinking = null;
    length = 0;
    for (var event : RetryEvents.events(modelRetry, model)) {
      batcher.write(event);
    }
  }

  /// The attempt failed: ends its block, if any. The next block replaces it.
  void endFailedAttempt() throws InterruptedException {
    if (deltas == 0) {
      return;
    }
    batcher.write(
        new ContentComplete(
            text.toString(), block, FinishReason.INTERRUPTED, true, replaces, null));
    replaces = block;
    block = clockAndIds.blockId();
    text.setLength(0);
    deltas = 0;
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
  void finish(
      ModelReply.ModelAnswer answer,
      List<ToolCall> calls,
      List<ToolCall> publicCalls,
      int iteration)
      throws InterruptedException {
    batcher.flush();
    var end =
        new ContentComplete(
            text.toString(),
            block,
            answer.reason(),
            null,
            replaces,
            calls.isEmpty() ? null : publicCalls);
    var state = Json.object();
    if (answer.memo() != null) {
      state.set(ModelTaskHistory.MEMO, answer.memo());
    }
    PrivateArguments.put(state, calls, publicCalls);
    var events = new ArrayList<Event>(List.of(end));
    if (answer.usage().totalTokens() > 0) {
      events.add(answer.usage());
    }
    events.add(reasoning(answer, calls, iteration));
    if (!calls.isEmpty()) {
      events.add(next(calls, iteration));
    }
    events.add(new InternalCheckpoint(iteration, state.isEmpty() ? null : state));
    taskRun.emit(events);
  }

  private InternalThoughtProcess reasoning(
      ModelReply.ModelAnswer answer, List<ToolCall> calls, int iteration) {
    var tools = calls.stream().map(ToolCall::name).toList();
    var about =
        Json.object()
            .put("finishReason", answer.reason().wire())
            .put("characters", text.length())
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
