package dev.parley.agent;

import dev.parley.model.Reply;
import dev.parley.model.Retry;
import dev.parley.model.Sink;
import dev.parley.model.Thought;
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
import dev.parley.task.Run;
import dev.parley.task.Sources;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// Converts one turn of a model into events: a block of text, and thoughts. Not thread-safe.
final class Scribe implements Sink {

  /// The maximum number of characters of text and thoughts in one turn.
  static final int REPLY_MAX = 1_000_000;

  private final Run run;
  private final Pen pen;
  private final Thoughts thoughts;
  private final Sources sources;
  private final String model;
  private BlockId block;
  private @Nullable BlockId replaces;
  private final StringBuilder text = new StringBuilder();
  private long length;
  private int deltas;
  private @Nullable ThoughtId thinking;
  private final @Nullable ToolCallId about;

  /// `replaces` is the block of an earlier attempt that the new block replaces. `about` is the call
  /// whose result the model received last, if this turn follows calls.
  Scribe(
      Run run,
      Pen pen,
      Thoughts thoughts,
      String model,
      @Nullable BlockId replaces,
      @Nullable ToolCallId about) {
    this.run = run;
    this.model = model;
    this.replaces = replaces;
    this.pen = pen;
    this.sources = run.sources();
    this.block = sources.blockId();
    this.thoughts = thoughts;
    this.about = about;
  }

  @Override
  public void text(String piece) throws InterruptedException {
    thinking = null;
    if (!piece.isEmpty()) {
      count(piece);
      text.append(piece);
      pen.write(new ContentDelta(piece, deltas++, block));
    }
  }

  @Override
  public void thinking(String piece) throws InterruptedException {
    if (!piece.isEmpty()) {
      count(piece);
      if (thinking == null) {
        thinking = sources.thoughtId();
      }
      pen.write(
          new ThoughtStream(
              thinking,
              ThoughtType.THINKING,
              Verbosity.DETAILED,
              piece,
              thoughts.next(),
              related(Json.object().put("source", "model")),
              null));
    }
  }

  @Override
  public void thought(Thought whole) throws InterruptedException {
    thinking = null;
    count(whole.content());
    pen.write(
        new ThoughtStream(
            sources.thoughtId(),
            whole.type(),
            whole.verbosity(),
            whole.content(),
            thoughts.next(),
            metadata(whole),
            null));
  }

  @Override
  public void retry(Retry retry) throws InterruptedException {
    cutOff();
    thinking = null;
    length = 0;
    for (var event : Retries.events(retry, model)) {
      pen.write(event);
    }
  }

  /// The attempt failed: ends its block, if any. The next block replaces it.
  void cutOff() throws InterruptedException {
    if (deltas == 0) {
      return;
    }
    pen.write(
        new ContentComplete(
            text.toString(), block, FinishReason.INTERRUPTED, true, replaces, null));
    replaces = block;
    block = sources.blockId();
    text.setLength(0);
    deltas = 0;
  }

  /// Ends a model call whose output does not end.
  private void count(String piece) {
    length += piece.length();
    if (length > REPLY_MAX) {
      throw new Rejection.TooLarge(
          "limit", "the model returned more than " + REPLY_MAX + " characters in one turn");
    }
  }

  /// Ends the turn; returns when all of it is durable. The end and the state for resuming are one
  /// append.
  void finish(Reply.Answered answer, List<ToolCall> calls, int iteration)
      throws InterruptedException {
    pen.flush();
    var end =
        new ContentComplete(
            text.toString(),
            block,
            answer.reason(),
            null,
            replaces,
            calls.isEmpty() ? null : calls);
    var state = answer.memo() == null ? null : Json.object();
    if (state != null) {
      state.set(Story.MEMO, answer.memo());
    }
    var events = new ArrayList<Event>(List.of(end));
    if (answer.usage().totalTokens() > 0) {
      events.add(answer.usage());
    }
    events.add(reasoning(answer, calls, iteration));
    if (!calls.isEmpty()) {
      events.add(next(calls, iteration));
    }
    events.add(new InternalCheckpoint(iteration, state));
    run.emit(events);
  }

  private InternalThoughtProcess reasoning(
      Reply.Answered answer, List<ToolCall> calls, int iteration) {
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
    return about == null ? metadata : metadata.put("relatedTo", about.value());
  }

  private @Nullable ObjectNode metadata(Thought thought) {
    var metadata = Json.object();
    if (thought.confidence() != null) {
      metadata.put("confidence", thought.confidence());
    }
    if (!thought.alternatives().isEmpty()) {
      thought.alternatives().forEach(metadata.putArray("alternatives")::add);
    }
    related(metadata);
    return metadata.isEmpty() ? null : metadata;
  }
}
