package dev.parley.log;

import dev.parley.protocol.BlockId;
import dev.parley.protocol.ContentEvent.ContentDelta;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Entry;
import dev.parley.protocol.Origin;
import dev.parley.protocol.Position;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// Consecutive deltas of one block, in columns.
///
/// Most events are deltas of a few characters, and each stays in memory until its context is sealed.
/// As objects, a delta takes eight of them, and garbage collections that copy them stop all threads
/// for tens of milliseconds. Here it takes no object: its text and time are in arrays, and the rest
/// follows from its index.
///
/// The arrays are appended to. A run that shares them sees its own part, which never changes.
final class DeltaRun implements StoredRun {

  /// The maximum number of deltas.
  private static final int MAX = 256;

  private static final int TEXT_USUAL = 8;

  /// How many deltas a new run has room for at most. Other events may end the run at once.
  private static final int FIRST_MAX = 4;

  /// The memory of a delta besides its text, in bytes, if its run has no other. Deltas that share a
  /// run take 12 bytes each; the limits of memory must also hold for blocks that alternate.
  private static final int OVERHEAD = 192;

  /// What the deltas of a block have in common.
  private record Block(@Nullable Origin origin, @Nullable BlockId id) {}

  private final Block block;

  /// The seq and the index of the delta at index 0 of the columns.
  private final long firstSeq;

  private final int firstIndex;
  private final int from;
  private int to;
  private long[] millis;
  private int[] ends;
  private byte[] text;

  private DeltaRun(Block block, long firstSeq, int firstIndex, int capacity, int textCapacity) {
    this.block = block;
    this.firstSeq = firstSeq;
    this.firstIndex = firstIndex;
    this.from = 0;
    this.millis = new long[capacity];
    this.ends = new int[capacity];
    this.text = new byte[textCapacity];
  }

  private DeltaRun(DeltaRun shared, int from, int to) {
    this.block = shared.block;
    this.firstSeq = shared.firstSeq;
    this.firstIndex = shared.firstIndex;
    this.from = from;
    this.to = to;
    this.millis = shared.millis;
    this.ends = shared.ends;
    this.text = shared.text;
  }

  /// An empty run that will begin with `delta` and get up to `expected` deltas.
  static DeltaRun begin(@Nullable Origin origin, ContentDelta delta, long seq, int expected) {
    var capacity = Math.min(expected, FIRST_MAX);
    return new DeltaRun(
        new Block(origin, delta.blockId()), seq, delta.index(), capacity, TEXT_USUAL * capacity);
  }

  /// True if the delta can be part of a run. An unpaired surrogate has no UTF-8 form.
  static boolean fits(ContentDelta delta) {
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

  @Nullable Origin origin() {
    return block.origin();
  }

  @Nullable BlockId blockId() {
    return block.id();
  }

  /// The index of the first delta in its block.
  int index() {
    return firstIndex + from;
  }

  @Override
  public int size() {
    return to - from;
  }

  long millis(int index) {
    return millis[from + index];
  }

  /// The length of the text of a delta in UTF-8.
  int textLength(int index) {
    return ends[from + index] - begin(from + index);
  }

  /// Adds the texts of all deltas to `sink`.
  void writeText(ByteSink sink) {
    sink.raw(text, begin(from), bytes());
  }

  Position position(int index) {
    return Position.of(firstSeq + from + index);
  }

  @Override
  public Position last() {
    return Position.of(firstSeq + to - 1);
  }

  ContentDelta delta(int index) {
    var begin = begin(from + index);
    return new ContentDelta(
        new String(text, begin, ends[from + index] - begin, StandardCharsets.UTF_8),
        index() + index,
        block.id());
  }

  @Override
  public StoredEntry entry(int index, ContextId context, EventIdGenerator ids) {
    var position = position(index);
    return StoredEntry.fresh(
        new Entry(
            context,
            position,
            ids.of(position),
            Instant.ofEpochMilli(millis(index)),
            block.origin(),
            delta(index)),
        0);
  }

  @Override
  public DeltaRun part(int first, int end) {
    return first == 0 && end == size() ? this : new DeltaRun(this, from + first, from + end);
  }

  @Override
  public long weight() {
    return (long) OVERHEAD * size() + 2L * bytes();
  }

  /// The size of the columns, in bytes. Runs that share columns return the same.
  int capacityBytes() {
    return Long.BYTES * millis.length + Integer.BYTES * ends.length + text.length;
  }

  /// True if `delta` is the next one of the same block, and there may be room for it.
  boolean continuedBy(@Nullable Origin origin, ContentDelta delta) {
    return size() < MAX
        && delta.index() == index() + size()
        && Objects.equals(delta.blockId(), block.id())
        && Objects.equals(origin, block.origin());
  }

  /// Adds a delta. Only for the thread that created the run, before others know it.
  void add(String delta, long time) {
    if (to == millis.length) {
      millis = Arrays.copyOf(millis, 2 * to);
      ends = Arrays.copyOf(ends, 2 * to);
    }
    var begin = begin(to);
    var end = begin;
    // UTF-8 takes at most three bytes for a char.
    if (text.length - begin >= 3 * delta.length()) {
      for (var i = 0; i < delta.length() && delta.charAt(i) < 0x80; i++) {
        text[end++] = (byte) delta.charAt(i);
      }
    }
    if (end - begin < delta.length()) {
      var bytes = delta.getBytes(StandardCharsets.UTF_8);
      end = begin + bytes.length;
      if (end > text.length) {
        text = Arrays.copyOf(text, Math.max(2 * text.length, end));
      }
      System.arraycopy(bytes, 0, text, begin, bytes.length);
    }
    millis[to] = time;
    ends[to++] = end;
  }

  /// A run of these deltas and those of `more`; null if `more` does not continue this run, or the
  /// result would be too long. Appends to the arrays of this run if they have room. For the writer
  /// thread.
  @Nullable DeltaRun join(DeltaRun more) {
    if (more.index() != index() + size()
        || more.position(0).seq() != position(size()).seq()
        || !more.block.equals(block)
        || size() + more.size() > MAX) {
      return null;
    }
    return hasRoom(more) ? plus(more) : withRoomFor(more).plus(more);
  }

  private boolean hasRoom(DeltaRun more) {
    return to + more.size() <= millis.length && begin(to) + more.bytes() <= text.length;
  }

  private DeltaRun plus(DeltaRun more) {
    var begin = begin(to);
    for (var i = 0; i < more.size(); i++) {
      millis[to + i] = more.millis(i);
      ends[to + i] = begin + more.ends[more.from + i] - more.begin(more.from);
    }
    System.arraycopy(more.text, more.begin(more.from), text, begin, more.bytes());
    return new DeltaRun(this, from, to + more.size());
  }

  /// A copy with room for `more` and as many deltas again.
  private DeltaRun withRoomFor(DeltaRun more) {
    var capacity = 2 * (size() + more.size());
    var textCapacity = Math.max(TEXT_USUAL * capacity, 2 * (bytes() + more.bytes()));
    return new DeltaRun(block, position(0).seq(), index(), capacity, textCapacity).plus(this);
  }

  private int bytes() {
    return begin(to) - begin(from);
  }

  private int begin(int column) {
    return column == 0 ? 0 : ends[column - 1];
  }
}
