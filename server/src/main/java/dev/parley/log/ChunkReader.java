package dev.parley.log;

import dev.parley.protocol.AgentLevel;
import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.ContentEvent.ContentDelta;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Entry;
import dev.parley.protocol.Event;
import dev.parley.protocol.EventJson;
import dev.parley.protocol.InvocationId;
import dev.parley.protocol.Kind;
import dev.parley.protocol.Origin;
import dev.parley.protocol.Position;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.ToolCallId;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Reads what [ChunkWriter] wrote.
final class ChunkReader {

  private final ContextId context;
  private final EventIdGenerator ids;
  private final ByteSource in;
  private final List<Origin> origins = new ArrayList<>();
  private final ArrayList<StoredEntry> entries = new ArrayList<>();
  private Position position = Position.START;
  private long time;

  private ChunkReader(ContextId context, EventIdGenerator ids, byte[] chunk) {
    this.context = context;
    this.ids = ids;
    this.in = new ByteSource(chunk);
  }

  /// The entries of a chunk.
  static List<StoredEntry> entries(ContextId context, EventIdGenerator ids, byte[] chunk) {
    return new ChunkReader(context, ids, chunk).read();
  }

  /// The position that the first entry of a chunk follows.
  static Position before(byte[] chunk) {
    return begin(new ByteSource(chunk));
  }

  private static Position begin(ByteSource in) {
    var format = in.oneByte();
    if (format != ChunkWriter.FORMAT) {
      throw new IllegalStateException("this version cannot read chunks of format " + format);
    }
    return new Position(in.number(), in.length());
  }

  private List<StoredEntry> read() {
    position = begin(in);
    time = in.number();
    var count = in.length();
    for (var i = 0; i < count; i++) {
      origins.add(readOrigin());
    }
    while (in.hasMore()) {
      readItem();
    }
    return entries;
  }

  private Origin readOrigin() {
    var task = new TaskId(in.id());
    var parent = in.id();
    var root = in.id();
    var agent = new AgentTypeId(in.id());
    var level = in.oneByte() == 0 ? AgentLevel.CORE : AgentLevel.SUBAGENT;
    var invocation = in.id();
    var call = in.id();
    var trace = in.text();
    return new Origin(
        task,
        parent.isEmpty() ? null : new TaskId(parent),
        root.isEmpty() ? task : new TaskId(root),
        agent,
        level,
        invocation.isEmpty() ? null : new InvocationId(invocation),
        call.isEmpty() ? null : new ToolCallId(call),
        trace.isEmpty() ? null : trace);
  }

  private void readItem() {
    var tag = in.oneByte();
    if (tag == ChunkWriter.DELTA_RUN) {
      readRun();
      return;
    }
    var internal = (tag & ChunkWriter.INTERNAL) != 0;
    var code = tag & ~ChunkWriter.INTERNAL;
    var origin = origin(in.length());
    time += in.number();
    position = internal ? position.nextInternal() : position.nextPublic();
    if (code == ChunkWriter.TEXTLESS_END) {
      var from = position.seq() - in.number();
      var payload = in.block();
      var end = EventJson.event(Kind.CONTENT_COMPLETE, payload);
      entries.add(new StoredEntry(entry(origin, end), from, true, payload.length));
    } else {
      var payload = in.block();
      var event = EventJson.event(Kind.ofCode(code), payload);
      entries.add(new StoredEntry(entry(origin, event), 0, false, payload.length));
    }
  }

  private void readRun() {
    var origin = origin(in.length());
    var block = ChunkWriter.block(in.id());
    var index = in.length();
    var count = in.length();
    entries.ensureCapacity(entries.size() + count);
    var times = new long[count];
    var lengths = new int[count];
    for (var i = 0; i < count; i++) {
      times[i] = in.number();
      lengths[i] = in.length();
    }
    for (var i = 0; i < count; i++) {
      time += times[i];
      position = position.nextPublic();
      var delta = new ContentDelta(in.text(lengths[i]), index + i, block);
      entries.add(StoredEntry.fresh(entry(origin, delta), 0));
    }
  }

  private Entry entry(@Nullable Origin origin, Event event) {
    return new Entry(
        context, position, ids.of(position), Instant.ofEpochMilli(time), origin, event);
  }

  private @Nullable Origin origin(int reference) {
    return reference == 0 ? null : origins.get(reference - 1);
  }
}
