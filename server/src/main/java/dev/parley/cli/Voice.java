package dev.parley.cli;

import dev.parley.protocol.BlockId;
import dev.parley.protocol.ContentEvent.ContentComplete;
import dev.parley.protocol.ContentEvent.ContentDelta;
import dev.parley.protocol.ContentEvent.FinishReason;
import dev.parley.protocol.Event;
import dev.parley.protocol.Json;
import dev.parley.protocol.ReportEvent.InternalRaw;
import dev.parley.protocol.ReportEvent.Usage;
import dev.parley.protocol.ThoughtEvent.ThoughtStream;
import dev.parley.protocol.ThoughtEvent.ThoughtType;
import dev.parley.protocol.ThoughtEvent.Verbosity;
import dev.parley.protocol.ThoughtId;
import dev.parley.protocol.ToolCallId;
import dev.parley.task.EarlyEnd;
import dev.parley.task.Hosted;
import dev.parley.task.Sources;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// One who speaks in a run: the program itself, or a sub-agent inside it. For one thread.
final class Voice {

  /// A call that has not come back; the program knows it by `programId`.
  record Call(ToolCallId id, String programId, String tool, @Nullable Voice subagent) {}

  private static final int WAITING_LINES_MAX = 256;
  private static final long WAITING_MAX = 1 << 20;

  final @Nullable Hosted hosted;
  final Map<String, Call> calls = new LinkedHashMap<>();
  private final Sources sources;
  private final boolean whole;
  private final StringBuilder text = new StringBuilder();
  private final List<Event> pending = new ArrayList<>();
  private @Nullable BlockId block;
  private @Nullable ThoughtId thought;
  private int deltas;
  private int thoughts;
  private String lastText = "";

  /// The index in `pending` of a block's end whose reason is not known yet; -1 if there is none.
  private int undecided = -1;

  /// Why the model stopped, if it has and nothing followed.
  private @Nullable FinishReason stopped;

  /// `hosted` is the task of a sub-agent; `thoughts` is how many the task has had; `whole` says that nothing is left out
  /// of lines.
  Voice(@Nullable Hosted hosted, Sources sources, int thoughts, boolean whole) {
    this.hosted = hosted;
    this.whole = whole;
    this.sources = sources;
    this.thoughts = thoughts;
  }

  void say(String piece) {
    goOn();
    thought = null;
    if (block == null) {
      block = sources.blockId();
    }
    text.append(piece);
    addText(new ContentDelta(piece, deltas++, block));
  }

  void think(String piece) {
    endBlock();
    goOn();
    if (thought == null) {
      thought = sources.thoughtId();
    }
    addText(
        new ThoughtStream(
            thought,
            ThoughtType.THINKING,
            Verbosity.DETAILED,
            piece,
            thoughts++,
            Json.object().put("source", "model"),
            null));
  }

  /// The model has not stopped for good: what it said before is whole.
  private void goOn() {
    undecided = -1;
    stopped = null;
  }

  /// Something that is neither text nor thought.
  void add(Event event) {
    // What was spent is told before the reason, everything else follows the block.
    if (!(event instanceof Usage)) {
      goOn();
    }
    thought = null;
    addText(event);
  }

  /// Adds an event, and leaves its text out of the lines before it that have it too.
  private void addText(Event event) {
    var text = whole ? null : InternalRaw.textOf(event);
    for (var i = pending.size() - 1;
        text != null && !text.isEmpty() && i >= 0 && pending.get(i) instanceof InternalRaw raw;
        i--) {
      pending.set(i, raw.without(text));
    }
    pending.add(event);
  }

  /// Something that is no part of what is said.
  void note(Event event) {
    pending.add(event);
  }

  /// The text is whole, if there is some.
  void endBlock() {
    endBlock(false);
  }

  /// The same; `reasonFollows` says that [#stop] may tell why the model stopped.
  void endBlock(boolean reasonFollows) {
    undecided = -1;
    if (block != null) {
      lastText = text.toString();
      addText(new ContentComplete(lastText, block, FinishReason.STOP, null, null, null));
      undecided = reasonFollows ? pending.size() - 1 : -1;
      block = null;
      text.setLength(0);
      deltas = 0;
    }
  }

  /// Says why the model stopped. Only a reason to stop early needs a block if there is no text.
  void stop(FinishReason reason) {
    if (reason == stopped) {
      return; // The end of the turn repeats it.
    }
    if (undecided < 0 && block == null && EarlyEnd.of(reason).isPresent()) {
      add(new ContentComplete("", sources.blockId(), reason, null, null, null));
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

  /// The text ends here, though more was to come.
  void cutBlock() {
    if (block != null) {
      pending.add(
          new ContentComplete(text.toString(), block, FinishReason.INTERRUPTED, true, null, null));
      block = null;
      text.setLength(0);
      deltas = 0;
    }
  }

  /// The last text that was whole.
  String lastText() {
    return lastText;
  }

  /// What is to be appended. Lines after the last event wait while a text is open: they may repeat it, and its end
  /// follows. A block's end waits for its reason. `all` says that nothing follows. If very much waits, nothing waits
  /// any longer.
  List<Event> take(boolean all) {
    var count = all || undecided < 0 ? pending.size() : undecided;
    while (!all
        && !whole
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
