package dev.parley.log;

import dev.parley.protocol.AgentLevel;
import dev.parley.protocol.BlockId;
import dev.parley.protocol.ContentEvent.ContentComplete;
import dev.parley.protocol.Entry;
import dev.parley.protocol.EventJson;
import dev.parley.protocol.Id;
import dev.parley.protocol.Origin;
import dev.parley.protocol.Position;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// Encodes consecutive entries of one context as a self-contained chunk of bytes.
///
/// A chunk has a format byte, the position before its first entry, the time of its first entry, the
/// origins of its entries, and then items. An item is an entry with its payload as JSON; the end of
/// a block without its text, which is in the deltas; or a run of deltas, in which each delta takes
/// its text and two or three bytes. Positions, indexes and times are relative to the preceding
/// ones.
final class ChunkWriter {

  static final int FORMAT = 1;
  static final int DELTA_RUN = 0x7f;
  static final int TEXTLESS_END = 0x7e;
  static final int INTERNAL = 0x80;

  private final ByteSink out;
  private final RecentIds recentIds;
  private final List<Origin> origins = new ArrayList<>(1);
  private long time;

  private ChunkWriter(RecentIds recentIds, int events) {
    this.recentIds = recentIds;
    this.out = new ByteSink(128 + 16 * events);
  }

  /// The chunk of these consecutive entries, the first of which follows `before`.
  static byte[] chunk(Position before, List<StoredRun> runs) {
    return new ChunkWriter(new RecentIds(), StoredRun.size(runs)).write(before, runs).chunk();
  }

  /// A chunk, and its entries with the lengths of their payloads.
  static final class EncodedChunk {
    private final byte[] chunk;
    private final List<StoredRun> runs;

    private EncodedChunk(byte[] chunk, List<StoredRun> runs) {
      this.chunk = chunk;
      this.runs = runs;
    }

    byte[] chunk() {
      return chunk;
    }

    List<StoredRun> runs() {
      return runs;
    }
  }

  /// As [#chunk], for entries that have not been written before. `recentIds` are those of the
  /// context.
  static EncodedChunk encode(Position before, List<StoredRun> runs, RecentIds recentIds) {
    return new ChunkWriter(recentIds, StoredRun.size(runs)).write(before, runs);
  }

  /// The stored form of the ids that were written last. The next append of a context usually has the
  /// same, and they take most of the time to encode it. For one thread at a time.
  static final class RecentIds {
    private @Nullable Origin origin;
    private byte[] originBytes = {};
    private @Nullable BlockId block;
    private byte[] blockBytes = {};

    private byte[] bytes(Origin next) {
      if (!next.equals(origin)) {
        var out = new ByteSink(64);
        write(out, next);
        originBytes = out.toArray();
        origin = next;
      }
      return originBytes;
    }

    private byte[] bytes(BlockId next) {
      if (!next.equals(block)) {
        var out = new ByteSink(32);
        out.id(next.value());
        blockBytes = out.toArray();
        block = next;
      }
      return blockBytes;
    }

    private static void write(ByteSink out, Origin origin) {
      text(out, origin.taskId());
      text(out, origin.parentTaskId());
      text(out, origin.rootTaskId().equals(origin.taskId()) ? null : origin.rootTaskId());
      text(out, origin.agentId());
      out.oneByte(origin.agentLevel() == AgentLevel.CORE ? 0 : 1);
      text(out, origin.invocationId());
      text(out, origin.spawnedByCallId());
      out.text(origin.traceId() == null ? "" : origin.traceId());
    }
  }

  private EncodedChunk write(Position before, List<StoredRun> runs) {
    time =
        switch (runs.getFirst()) {
          case DeltaRun deltas -> deltas.millis(0);
          case StoredEntry storedEntry -> storedEntry.entry().timestamp().toEpochMilli();
        };
    out.oneByte(FORMAT);
    out.number(before.seq());
    out.number(before.k());
    out.number(time);
    writeOrigins(runs);
    List<StoredRun> measured = null;
    for (var i = 0; i < runs.size(); i++) {
      switch (runs.get(i)) {
        case DeltaRun deltas -> writeRun(deltas);
        case StoredEntry storedEntry -> {
          measured = measured == null ? new ArrayList<>(runs) : measured;
          measured.set(i, storedEntry.withPayloadBytes(writeItem(storedEntry)));
        }
      }
    }
    return new EncodedChunk(out.toArray(), measured == null ? runs : measured);
  }

  private void writeOrigins(List<StoredRun> runs) {
    for (var run : runs) {
      var origin =
          switch (run) {
            case DeltaRun deltas -> deltas.origin();
            case StoredEntry storedEntry -> storedEntry.entry().origin();
          };
      if (origin != null && indexOf(origin) < 0) {
        origins.add(origin);
      }
    }
    out.number(origins.size());
    for (var origin : origins) {
      out.raw(recentIds.bytes(origin));
    }
  }

  /// Writes an entry. Returns the length of its payload.
  private int writeItem(StoredEntry storedEntry) {
    var entry = storedEntry.entry();
    var flag = entry.position().k() > 0 ? INTERNAL : 0;
    byte[] payload;
    if (storedEntry.textFrom() > 0 && entry.event() instanceof ContentComplete end) {
      out.oneByte(TEXTLESS_END | flag);
      writeHead(entry);
      out.number(entry.position().seq() - storedEntry.textFrom());
      payload = EventJson.payload(withoutText(end));
    } else {
      out.oneByte(entry.kind().code() | flag);
      writeHead(entry);
      payload = EventJson.payload(entry.event());
    }
    out.block(payload);
    return payload.length;
  }

  private void writeRun(DeltaRun deltas) {
    out.oneByte(DELTA_RUN);
    out.number(reference(deltas.origin()));
    if (deltas.blockId() == null) {
      out.id("");
    } else {
      out.raw(recentIds.bytes(deltas.blockId()));
    }
    out.number(deltas.index());
    out.number(deltas.size());
    for (var i = 0; i < deltas.size(); i++) {
      writeTime(deltas.millis(i));
      out.number(deltas.textLength(i));
    }
    deltas.writeText(out);
  }

  private void writeHead(Entry entry) {
    out.number(reference(entry.origin()));
    writeTime(entry.timestamp().toEpochMilli());
  }

  private void writeTime(long millis) {
    out.number(millis - time);
    time = millis;
  }

  private int reference(@Nullable Origin origin) {
    return origin == null ? 0 : indexOf(origin) + 1;
  }

  private int indexOf(Origin origin) {
    for (var i = 0; i < origins.size(); i++) {
      if (Objects.equals(origins.get(i), origin)) {
        return i;
      }
    }
    return -1;
  }

  private static void text(ByteSink out, @Nullable Id id) {
    out.id(id == null ? "" : id.value());
  }

  private static ContentComplete withoutText(ContentComplete end) {
    return new ContentComplete(
        "", end.blockId(), end.finishReason(), end.partial(), end.replaces(), end.toolCalls());
  }

  static @Nullable BlockId block(String text) {
    return text.isEmpty() ? null : new BlockId(text);
  }
}
