package dev.parley.agent;

import dev.parley.protocol.BlockId;
import dev.parley.protocol.ContentEvent.ContentComplete;
import dev.parley.protocol.ContentEvent.ContentDelta;
import dev.parley.protocol.ContentEvent.FinishReason;
import dev.parley.protocol.ContentEvent.ToolCall;
import dev.parley.protocol.EarlyEnd;
import dev.parley.protocol.Event;
import dev.parley.protocol.Json;
import dev.parley.protocol.ReportEvent.InternalRaw;
import dev.parley.protocol.ReportEvent.Usage;
import dev.parley.protocol.ThoughtEvent.ThoughtStream;
import dev.parley.protocol.ThoughtEvent.ThoughtType;
import dev.parley.protocol.ThoughtEvent.Verbosity;
import dev.parley.protocol.ThoughtEvent.Visibility;
import dev.parley.protocol.ThoughtId;
import dev.parley.protocol.ToolCallId;
import dev.parley.protocol.ToolEvent.ToolComplete;
import dev.parley.protocol.ToolEvent.ToolStart;
import dev.parley.task.AppendFilter;
import dev.parley.task.TaskRun;
import dev.parley.task.TaskSources;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;
import tools.jackson.databind.node.StringNode;

/// Collects the output of an agent as events of its task: blocks of text, thoughts, and other events
/// in their order. All kinds of agent write through it.
///
/// [#take] returns the collected events, and the owner appends them, alone or in batches. For one
/// thread.
public final class TaskOutput {

  /// The maximum number of characters that an agent outside the server may write in one task.
  public static final long CHARACTERS_MAX = 20_000_000;

  private static final int RESULT_BYTES_MAX = 64 * 1024;
  private static final int RESULT_SHOWN = 16 * 1024;
  private static final int WAITING_LINES_MAX = 256;
  private static final long WAITING_MAX = 1 << 20;

  private final TaskSources taskSources;
  private final IntSupplier thoughtNumbers;
  private final boolean keepsFullLines;
  private final StringBuilder text = new StringBuilder();
  private final List<Event> pending = new ArrayList<>();
  private @Nullable BlockId block;
  private @Nullable BlockId replaces;
  private @Nullable ThoughtId thought;
  private int deltas;
  private String lastText = "";

  /// The index in `pending` of the end of a block whose reason is not known yet; -1 if there is
  /// none.
  private int undecided = -1;

  /// Why the model stopped, if no other event followed.
  private @Nullable FinishReason stopped;

  /// `thoughtNumbers` numbers the thoughts of the task.
  public TaskOutput(TaskSources taskSources, IntSupplier thoughtNumbers) {
    this(taskSources, thoughtNumbers, true);
  }

  /// For a program whose raw lines are kept: `whole` keeps them complete, otherwise without the text
  /// that other events contain.
  public TaskOutput(TaskSources taskSources, IntSupplier thoughtNumbers, boolean whole) {
    this.taskSources = taskSources;
    this.thoughtNumbers = thoughtNumbers;
    this.keepsFullLines = whole;
  }

  /// Continues a block whose first `count` deltas, with this text, are in the log.
  public TaskOutput continuing(BlockId open, String written, int count) {
    block = open;
    text.append(written);
    deltas = count;
    return this;
  }

  /// The next block, or the one that is continued, replaces this interrupted one.
  public TaskOutput replacing(@Nullable BlockId interrupted) {
    replaces = interrupted;
    return this;
  }

  /// Adds a piece of text to the open block, or begins a block with it.
  public void appendText(String piece) {
    clearStop();
    thought = null;
    if (block == null) {
      block = taskSources.blockId();
    }
    text.append(piece);
    addTrimmed(new ContentDelta(piece, deltas++, block));
  }

  /// Adds a piece of the model's thinking to the open thought, or begins a thought with it.
  public void appendThought(String piece, ObjectNode metadata) {
    clearStop();
    if (thought == null) {
      thought = taskSources.thoughtId();
    }
    addTrimmed(
        new ThoughtStream(
            thought,
            ThoughtType.THINKING,
            Verbosity.DETAILED,
            piece,
            thoughtNumbers.getAsInt(),
            metadata,
            null));
  }

  /// Adds a whole thought.
  public void addThought(
      ThoughtType type,
      Verbosity verbosity,
      String content,
      @Nullable ObjectNode metadata,
      @Nullable Visibility visibility) {
    add(
        new ThoughtStream(
            taskSources.thoughtId(),
            type,
            verbosity,
            content,
            thoughtNumbers.getAsInt(),
            metadata,
            visibility));
  }

  /// Adds an event that is neither text nor thought.
  public void add(Event event) {
    // Usage arrives before the reason; all other events follow the block.
    if (!(event instanceof Usage)) {
      clearStop();
    }
    thought = null;
    addTrimmed(event);
  }

  /// Adds an event that is not part of the conversation.
  public void addInternal(Event event) {
    pending.add(event);
  }

  /// The model continues, so its last text is complete.
  private void clearStop() {
    undecided = -1;
    stopped = null;
  }

  /// Adds an event, and removes its text from the raw lines before it.
  private void addTrimmed(Event event) {
    var text = keepsFullLines ? null : InternalRaw.textOf(event);
    for (var i = pending.size() - 1;
        text != null && !text.isEmpty() && i >= 0 && pending.get(i) instanceof InternalRaw raw;
        i--) {
      pending.set(i, raw.without(text));
    }
    pending.add(event);
  }

  /// True if a block of text is open.
  public boolean hasOpenBlock() {
    return block != null;
  }

  /// Completes the open block of text, if there is one.
  public void endBlock() {
    endBlock(false);
  }

  /// The same; `reasonFollows` means that [#stop] may set the reason why the model stopped.
  public void endBlock(boolean reasonFollows) {
    undecided = -1;
    if (block != null) {
      end(block, FinishReason.STOP, null, null);
      undecided = reasonFollows ? pending.size() - 1 : -1;
    }
  }

  /// Completes a turn of the model, which may have no text.
  public void endTurn(FinishReason reason, @Nullable List<ToolCall> calls) {
    end(block == null ? taskSources.blockId() : block, reason, null, calls);
  }

  /// Ends the open block of text, if there is one, as incomplete.
  public void interruptBlock() {
    if (block != null) {
      end(block, FinishReason.INTERRUPTED, true, null);
    }
  }

  /// The same; the next block replaces it.
  public void abandonBlock() {
    var abandoned = block;
    interruptBlock();
    replaces = abandoned == null ? replaces : abandoned;
    thought = null;
  }

  private void end(
      BlockId ended,
      FinishReason reason,
      @Nullable Boolean partial,
      @Nullable List<ToolCall> calls) {
    var end = new ContentComplete(text.toString(), ended, reason, partial, replaces, calls);
    if (partial == null) {
      lastText = text.toString();
      addTrimmed(end);
    } else {
      pending.add(end);
    }
    block = null;
    replaces = null;
    text.setLength(0);
    deltas = 0;
  }

  /// Sets the reason why the model stopped. Without a text, only a reason to stop early needs a
  /// block.
  public void stop(FinishReason reason) {
    if (reason == stopped) {
      return; // The end of the turn repeats it.
    }
    if (undecided < 0 && block == null && EarlyEnd.of(reason).isPresent()) {
      add(new ContentComplete("", taskSources.blockId(), reason, null, null, null));
    } else if (undecided >= 0 && pending.get(undecided) instanceof ContentComplete end) {
      pending.set(
          undecided,
          new ContentComplete(
              end.content(),
              end.blockId(),
              reason,
              end.partial(),
              end.replaces(),
              end.toolCalls()));
    }
    undecided = -1;
    stopped = reason;
  }

  /// The last complete text.
  public String lastText() {
    return lastText;
  }

  /// Removes and returns all collected events.
  public List<Event> take() {
    return take(true);
  }

  /// Removes and returns the events to append. While a text is open, trailing raw lines wait,
  /// because they may repeat it. The end of a block waits for its reason. `all` means that nothing
  /// follows. If too much waits, everything is returned.
  public List<Event> take(boolean all) {
    var count = all || undecided < 0 ? pending.size() : undecided;
    while (!all
        && !keepsFullLines
        && block != null
        && count > 0
        && pending.get(count - 1) instanceof InternalRaw) {
      count--;
    }
    if (tooMany(pending.subList(count, pending.size()))) {
      count = pending.size();
    }
    var ready = pending.subList(0, count);
    var events = List.copyOf(ready);
    ready.clear();
    undecided = undecided < count ? -1 : undecided - count;
    return events;
  }

  private static boolean tooMany(List<Event> waiting) {
    var characters = 0L;
    for (var event : waiting) {
      characters += event instanceof InternalRaw raw ? raw.line().length() : 0;
    }
    return waiting.size() > WAITING_LINES_MAX || characters > WAITING_MAX;
  }

  /// Appends events of a run, without the ends of calls that have been ended meanwhile, for example
  /// by a person who canceled them.
  public static void emit(TaskRun taskRun, List<? extends Event> events) {
    taskRun.emit(
        state -> {
          var open = new HashSet<ToolCallId>();
          state
              .openTask(taskRun.origin().taskId())
              .ifPresent(task -> open.addAll(task.openCalls().keySet()));
          return AppendFilter.of(
              List.<Event>copyOf(events),
              event ->
                  switch (event) {
                    case ToolStart start -> open.add(start.toolCallId());
                    case ToolComplete end -> open.remove(end.toolCallId());
                    default -> true; // Other events do not conflict.
                  });
        });
  }

  /// The idempotency key of a call, which is the same for every attempt.
  public static String idempotencyKey(TaskRun taskRun, ToolCallId call) {
    return taskRun.origin().taskId() + "/" + call;
  }

  /// The result of a call, truncated if it is too large, with a note.
  public static JsonNode truncated(JsonNode result) {
    var size = Json.bytes(result).length;
    if (size <= RESULT_BYTES_MAX) {
      return result;
    }
    return StringNode.valueOf(
        truncated(result.isString() ? result.asString() : result.toString(), size));
  }

  /// The error of a call, truncated if it is too long, with a note.
  public static String truncated(String error) {
    return error.length() <= RESULT_SHOWN ? error : truncated(error, error.length());
  }

  private static String truncated(String text, int size) {
    var end = Math.min(text.length(), RESULT_SHOWN);
    if (Character.isHighSurrogate(text.charAt(end - 1))) {
      end--;
    }
    return text.substring(0, end)
        + "\n[truncated: the result has "
        + size
        + " bytes, this is how it begins]";
  }
}
