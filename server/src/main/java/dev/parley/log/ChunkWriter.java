package dev.parley.log;

import dev.parley.protocol.AgentLevel;
import dev.parley.protocol.BlockId;
import dev.parley.protocol.ContentEvent.ContentComplete;
import dev.parley.protocol.ContentEvent.ContentDelta;
import dev.parley.protocol.Entry;
import dev.parley.protocol.Event;
import dev.parley.protocol.EventJson;
import dev.parley.protocol.Id;
import dev.parley.protocol.Origin;
import dev.parley.protocol.Position;
import java.nio.charset.StandardCharsets;
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
  private final List<StoredEntry> entries;
  private final List<Origin> origins = new ArrayList<>();
  private final int[] payloads;
  private long time;
  private int deltas;

  private ChunkWriter(List<StoredEntry> slots) {
    this.entries = slots;
    this.payloads = new int[slots.size()];
    this.out = new ByteSink(128 + 64 * slots.size());
  }

  /// The chunk of these consecutive entries, the first of which follows `before`.
  static byte[] chunk(Position before, List<StoredEntry> slots) {
    return new ChunkWriter(slots).write(before);
  }

  /// A chunk, and its entries with the lengths of their payloads.
  static final class EncodedChunk {
    private final byte[] chunk;
    private final List<StoredEntry> entries;

    private EncodedChunk(byte[] chunk, List<StoredEntry> slots) {
      this.chunk = chunk;
      this.entries = slots;
    }

    byte[] chunk() {
      return chunk;
    }

    List<StoredEntry> entries() {
      return entries;
    }
  }

  /// As [#chunk], for entries that have not been written before.
  static EncodedChunk encode(Position before, List<StoredEntry> slots) {
    var writer = new ChunkWriter(slots);
    var chunk = writer.write(before);
    if (writer.deltas == slots.size()) {
      return new EncodedChunk(chunk, slots); // The usual case: deltas have no payloads.
    }
    var measured = new ArrayList<StoredEntry>(slots.size());
    for (var i = 0; i < slots.size(); i++) {
      var payload = writer.payloads[i];
      measured.add(payload == 0 ? slots.get(i) : slots.get(i).withPayloadBytes(payload));
    }
    return new EncodedChunk(chunk, measured);
  }

  private byte[] write(Position before) {
    time = entries.getFirst().entry().timestamp().toEpochMilli();
    out.oneByte(FORMAT);
    out.number(before.seq());
    out.number(before.k());
    out.number(time);
    writeOrigins();
    for (var i = 0; i < entries.size(); ) {
      i += writeItem(i);
    }
    return out.toArray();
  }

  private void writeOrigins() {
    for (var storedEntry : entries) {
      var origin = storedEntry.entry().origin();
      if (origin != null && indexOf(origin) < 0) {
        origins.add(origin);
      }
    }
    out.number(origins.size());
    for (var origin : origins) {
      text(origin.taskId());
      text(origin.parentTaskId());
      text(origin.rootTaskId().equals(origin.taskId()) ? null : origin.rootTaskId());
      text(origin.agentId());
      out.oneByte(origin.agentLevel() == AgentLevel.CORE ? 0 : 1);
      text(origin.invocationId());
      text(origin.spawnedByCallId());
      out.text(origin.traceId() == null ? "" : origin.traceId());
    }
  }

  /// Writes the item that begins at `from`. Returns how many entries it covers.
  private int writeItem(int from) {
    var storedEntry = entries.get(from);
    var entry = storedEntry.entry();
    if (entry.event() instanceof ContentDelta delta && packable(delta)) {
      return writeRun(from, delta);
    }
    var flag = entry.position().k() > 0 ? INTERNAL : 0;
    if (storedEntry.textFrom() > 0 && entry.event() instanceof ContentComplete end) {
      out.oneByte(TEXTLESS_END | flag);
      writeHead(entry);
      out.number(entry.position().seq() - storedEntry.textFrom());
      writePayload(from, withoutText(end));
    } else {
      out.oneByte(entry.kind().code() | flag);
      writeHead(entry);
      writePayload(from, entry.event());
    }
    return 1;
  }

  private void writePayload(int index, Event event) {
    var payload = EventJson.payload(event);
    payloads[index] = payload.length;
    out.block(payload);
  }

  private int writeRun(int from, ContentDelta first) {
    var origin = entries.get(from).entry().origin();
    var count = 1;
    while (from + count < entries.size()
        && continues(entries.get(from + count), origin, first, count)) {
      count++;
    }
    out.oneByte(DELTA_RUN);
    out.number(reference(origin));
    text(first.blockId());
    out.number(first.index());
    out.number(count);
    var texts = new ByteSink(8 * count);
    for (var i = 0; i < count; i++) {
      var entry = entries.get(from + i).entry();
      writeTime(entry);
      var text = ((ContentDelta) entry.event()).delta().getBytes(StandardCharsets.UTF_8);
      out.number(text.length);
      texts.raw(text);
    }
    out.raw(texts.toArray());
    deltas += count;
    return count;
  }

  private static boolean continues(
      StoredEntry storedEntry, @Nullable Origin origin, ContentDelta first, int offset) {
    return storedEntry.entry().event() instanceof ContentDelta delta
        && delta.index() == first.index() + offset
        && Objects.equals(delta.blockId(), first.blockId())
        && Objects.equals(storedEntry.entry().origin(), origin)
        && packable(delta);
  }

  /// An unpaired surrogate has no UTF-8 form; such a delta is stored as JSON, which can escape it.
  private static boolean packable(ContentDelta delta) {
    var text = delta.delta();
    for (var i = 0; i < text.length(); i++) {
      if (Character.isSurrogate(text.charAt(i))) {
        if (!Character.isHighSurrogate(text.charAt(i))
            || i + 1 == text.length()
            || !Character.isLowSurrogate(text.charAt(i + 1))) {
          return false;
        }
        i++;
      }
    }
    return true;
  }

  private void writeHead(Entry entry) {
    out.number(reference(entry.origin()));
    writeTime(entry);
  }

  private void writeTime(Entry entry) {
    var millis = entry.timestamp().toEpochMilli();
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

  private void text(@Nullable Id id) {
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
