package dev.parley.external.cli;

import dev.parley.protocol.BlockId;
import dev.parley.protocol.ContentEvent.ContentComplete;
import dev.parley.protocol.ContentEvent.ContentDelta;
import dev.parley.protocol.ContentEvent.FinishReason;
import dev.parley.protocol.EarlyEnd;
import dev.parley.protocol.Event;
import dev.parley.protocol.Json;
import dev.parley.protocol.ReportEvent.InternalRaw;
import dev.parley.protocol.ReportEvent.Usage;
import dev.parley.protocol.ThoughtEvent.ThoughtStream;
import dev.parley.protocol.ThoughtEvent.ThoughtType;
import dev.parley.protocol.ThoughtEvent.Verbosity;
import dev.parley.protocol.ThoughtId;
import dev.parley.protocol.ToolCallId;
import dev.parley.task.ClockAndIds;
import dev.parley.task.HostedSubtask;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// Collects the events of one sender in a run: the program itself, or a sub-agent inside it. For
/// one thread.
final class SpeakerOutput {

  /// A call that has not returned; `programId` is its id in the program.
  record ProgramCall(
      ToolCallId id, String programId, String tool, @Nullable SpeakerOutput subagent) {}

  private static final int WAITING_LINES_MAX = 256;
  private static final long WAITING_MAX = 1 << 20;

  final @Nullable HostedSubtask hosted;
  final Map<String, ProgramCall> calls = new LinkedHashMap<>();
  private final ClockAndIds clockAndIds;
  private final boolean keepsFullLines;
  private final StringBuilder text = new StringBuilder();
  private final List<Event> pending = new ArrayList<>();
  private @Nullable BlockId block;
  private @Nullable ThoughtId thought;
  private int deltas;
  private int thoughts;
  private String lastText = "";

  /// The index in `pending` of the end of a block whose reason is not known yet; -1 if there is
  /// none.
  private int undecided = -1;

  /// Why the model stopped, if no other event followed.
  private @Nullable FinishReason stopped;

  /// `hosted` is the task of a sub-agent; `thoughts` is the number of earlier thoughts of the task;
  /// `whole` keeps raw lines complete.
  SpeakerOutput(
      @Nullable HostedSubtask hostedSubtask, ClockAndIds clockAndIds, int thoughts, boolean whole) {
    this.hosted = hostedSubtask;
    this.keepsFullLines = whole;
    this.clockAndIds = clockAndIds;
    this.thoughts = thoughts;
  }

  void appendText(String piece) {
    clearStop();
    thought = null;
    if (block == null) {
      block = clockAndIds.blockId();
    }
    text.append(piece);
    addTrimmed(new ContentDelta(piece, deltas++, block));
  }

  void appendThought(String piece) {
    endBlock();
    clearStop();
    if (thought == null) {
      thought = clockAndIds.thoughtId();
    }
    addTrimmed(
        new ThoughtStream(
            thought,
            ThoughtType.THINKING,
            Verbosity.DETAILED,
            piece,
            thoughts++,
            Json.object().put("source", "model"),
            null));
  }

  /// The model continues, so its last text is complete.
  private void clearStop() {
    undecided = -1;
    stopped = null;
  }

  /// Adds an event that is neither text nor thought.
  void add(Event event) {
    // Usage arrives before the reason; all other events follow the block.
    if (!(event instanceof Usage)) {
      clearStop();
    }
    thought = null;
    addTrimmed(event);
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

  /// Adds an event that is not part of the conversation.
  void addInternal(Event event) {
    pending.add(event);
  }

  /// Completes the open block of text, if there is one.
  void endBlock() {
    endBlock(false);
  }

  /// The same; `reasonFollows` means that [#stop] may set the reason why the model stopped.
  void endBlock(boolean reasonFollows) {
    undecided = -1;
    if (block != null) {
      lastText = text.toString();
      addTrimmed(new ContentComplete(lastText, block, FinishReason.STOP, null, null, null));
      undecided = reasonFollows ? pending.size() - 1 : -1;
      block = null;
      text.setLength(0);
      deltas = 0;
    }
  }

  /// Sets the reason why the model stopped. Without a text, only a reason to stop early needs a
  /// block.
  void stop(FinishReason reason) {
    if (reason == stopped) {
      return; // The end of the turn repeats it.
    }
    if (undecided < 0 && block == null && EarlyEnd.of(reason).isPresent()) {
      add(new ContentComplete("", clockAndIds.blockId(), reason, null, null, null));
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

  /// Ends the open block of text as incomplete.
  void interruptBlock() {
    if (block != null) {
      pending.add(
          new ContentComplete(text.toString(), block, FinishReason.INTERRUPTED, true, null, null));
      block = null;
      text.setLength(0);
      deltas = 0;
    }
  }

  /// The last complete text.
  String lastText() {
    return lastText;
  }

  /// Removes and returns the events to append. While a text is open, trailing raw lines wait,
  /// because they may repeat it. The end of a block waits for its reason. `all` means that nothing
  /// follows. If too much waits, everything is returned.
  List<Event> take(boolean all) {
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
}
