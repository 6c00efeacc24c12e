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
  private final Position after;
  private final int limit;
  private final List<Origin> origins = new ArrayList<>();
  private final ArrayList<StoredEntry> entries = new ArrayList<>();
  private Position position = Position.START;
  private long time;

  private ChunkReader(
      ContextId context, EventIdGenerator ids, byte[] chunk, Position after, int limit) {
    this.context = context;
    this.ids = ids;
    this.in = new ByteSource(chunk);
    this.after = after;
    this.limit = limit;
  }

  /// The entries of a chunk.
  static List<StoredEntry> entries(ContextId context, EventIdGenerator ids, byte[] chunk) {
    return entries(context, ids, chunk, Position.START, Integer.MAX_VALUE);
  }

  /// The first `limit` entries of a chunk after `after`. Skips the others without creating objects.
  static List<StoredEntry> entries(
      ContextId context, EventIdGenerator ids, byte[] chunk, Position after, int limit) {
    return new ChunkReader(context, ids, chunk, after, limit).read();
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
    while (in.hasMore() && entries.size() < limit) {
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
    var textFrom = code == ChunkWriter.TEXTLESS_END ? position.seq() - in.number() : 0;
    if (!position.after(after)) {
      in.skip(in.length());
      return;
    }
    if (code == ChunkWriter.TEXTLESS_END) {
      var payload = in.block();
      var end = EventJson.event(Kind.CONTENT_COMPLETE, payload);
      entries.add(new StoredEntry(entry(origin, end), textFrom, true, payload.length));
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
    var times = new long[count];
    var lengths = new int[count];
    for (var i = 0; i < count; i++) {
      time += in.number();
      times[i] = time;
      lengths[i] = in.length();
    }
    var first = position.seq() + 1;
    position = Position.of(position.seq() + count);
    var skipped = Math.clamp(after.seq() - first + 1, 0, count);
    for (var i = 0; i < skipped; i++) {
      in.skip(lengths[i]);
    }
    var end = skipped + Math.min(count - skipped, limit - entries.size());
    entries.ensureCapacity(entries.size() + end - skipped);
    for (var i = skipped; i < end; i++) {
      var delta = new ContentDelta(in.text(lengths[i]), index + i, block);
      entries.add(StoredEntry.fresh(entry(Position.of(first + i), times[i], origin, delta), 0));
    }
    for (var i = end; i < count; i++) {
      in.skip(lengths[i]);
    }
  }

  private Entry entry(@Nullable Origin origin, Event event) {
    return entry(position, time, origin, event);
  }

  private Entry entry(Position position, long millis, @Nullable Origin origin, Event event) {
    return new Entry(
        context, position, ids.of(position), Instant.ofEpochMilli(millis), origin, event);
  }

  private @Nullable Origin origin(int reference) {
    return reference == 0 ? null : origins.get(reference - 1);
  }
}
