package dev.parley.cli;

import dev.parley.protocol.BlockId;
import dev.parley.protocol.ContentEvent.ContentComplete;
import dev.parley.protocol.ContentEvent.ContentDelta;
import dev.parley.protocol.ContentEvent.FinishReason;
import dev.parley.protocol.Event;
import dev.parley.protocol.Json;
import dev.parley.protocol.ThoughtEvent.ThoughtStream;
import dev.parley.protocol.ThoughtEvent.ThoughtType;
import dev.parley.protocol.ThoughtEvent.Verbosity;
import dev.parley.protocol.ThoughtId;
import dev.parley.protocol.ToolCallId;
import dev.parley.task.Hosted;
import dev.parley.task.Sources;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// One who speaks in a run: the program itself, or a sub-agent inside it. For one thread.
final class Voice {

  /// A call that has not come back.
  record Call(ToolCallId id, String tool, @Nullable Voice subagent) {}

  final @Nullable Hosted hosted;
  final Map<String, Call> calls = new LinkedHashMap<>();
  private final Sources sources;
  private final StringBuilder text = new StringBuilder();
  private final List<Event> pending = new ArrayList<>();
  private @Nullable BlockId block;
  private @Nullable ThoughtId thought;
  private int deltas;
  private int thoughts;
  private String lastText = "";

  /// `hosted` is the task of a sub-agent; `thoughts` is how many the task has had.
  Voice(@Nullable Hosted hosted, Sources sources, int thoughts) {
    this.hosted = hosted;
    this.sources = sources;
    this.thoughts = thoughts;
  }

  void say(String piece) {
    thought = null;
    if (block == null) {
      block = sources.blockId();
    }
    text.append(piece);
    pending.add(new ContentDelta(piece, deltas++, block));
  }

  void think(String piece) {
    endBlock();
    if (thought == null) {
      thought = sources.thoughtId();
    }
    pending.add(
        new ThoughtStream(
            thought,
            ThoughtType.THINKING,
            Verbosity.DETAILED,
            piece,
            thoughts++,
            Json.object().put("source", "model"),
            null));
  }

  /// Something that is neither text nor thought.
  void add(Event event) {
    thought = null;
    pending.add(event);
  }

  /// Something that is no part of what is said.
  void note(Event event) {
    pending.add(event);
  }

  /// The text is whole, if there is some.
  void endBlock() {
    if (block != null) {
      lastText = text.toString();
      pending.add(new ContentComplete(lastText, block, FinishReason.STOP, null, null, null));
      block = null;
      text.setLength(0);
      deltas = 0;
    }
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

  /// What is to be appended.
  List<Event> take() {
    var events = List.copyOf(pending);
    pending.clear();
    return events;
  }
}
