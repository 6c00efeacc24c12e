package dev.parley.stream;

import dev.parley.http.FrameStream;
import dev.parley.protocol.ContentEvent.ContentDelta;
import dev.parley.protocol.Entry;
import dev.parley.protocol.EntryJsonWriter;
import dev.parley.protocol.Position;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;

/// Consecutive entries, encoded once for all readers.
///
/// `ends[i]` is where the frame of entry `i` ends in `bytes`. Immutable.
@SuppressWarnings("ArrayRecordComponent") // Never compared, and it exists to avoid copies.
public record FramePage(List<Entry> entries, int[] ends, byte[] bytes) {

  /// The size of a full page. A larger frame gets a page of its own.
  public static final int BYTES = FrameStream.WRITE_BYTES;

  /// How many entries to read at once if the size of frames is unknown.
  public static final int READ_FIRST = 32;

  private static final int READ_MIN = 4;
  private static final int READ_MAX = 1024;

  /// The usual size of a frame.
  static final int FRAME_USUAL = 512;

  /// More frames than a page of the usual size holds.
  private static final int ENTRIES_MAX = 512;

  static List<FramePage> of(List<Entry> entries, EventFormat eventFormat) {
    var pages = new ArrayList<FramePage>();
    var frames = new EntryJsonWriter(Math.min(BYTES, FRAME_USUAL * entries.size()));
    for (var from = 0; from < entries.size(); ) {
      frames.truncate(0);
      var page = of(entries, from, eventFormat, frames);
      pages.add(page);
      from += page.entries.size();
    }
    return pages;
  }

  private static FramePage of(
      List<Entry> entries, int from, EventFormat eventFormat, EntryJsonWriter frames) {
    var ends = new int[Math.min(entries.size() - from, ENTRIES_MAX)];
    var count = 0;
    while (count < ends.length) {
      eventFormat.write(entries.get(from + count), frames);
      if (count > 0 && frames.size() > BYTES) {
        frames.truncate(ends[count - 1]);
        break;
      }
      ends[count++] = frames.size();
    }
    return new FramePage(
        List.copyOf(entries.subList(from, from + count)),
        Arrays.copyOf(ends, count),
        frames.toArray());
  }

  /// How many entries to read at once after this page, so that large entries do not fill the memory.
  public int readMax() {
    return Math.clamp(4L * BYTES / Math.max(1, bytes.length / entries.size()), READ_MIN, READ_MAX);
  }

  /// The position of the last entry.
  Position last() {
    return entries.getLast().position();
  }

  /// The frames that pass the filter, up to the entry at index `to`, exclusive. Does not copy if
  /// they are contiguous.
  public ByteBuffer select(EventFilter filter, int to) {
    var size = 0;
    var first = 0;
    var last = 0;
    for (var i = 0; i < to; i++) {
      if (filter.accepts(entries.get(i))) {
        first = size == 0 ? start(i) : first;
        size += ends[i] - start(i);
        last = ends[i];
      }
    }
    if (last - first == size) {
      return ByteBuffer.wrap(bytes, first, size);
    }
    var chosen = ByteBuffer.allocate(size);
    for (var i = 0; i < to; i++) {
      if (filter.accepts(entries.get(i))) {
        chosen.put(bytes, start(i), ends[i] - start(i));
      }
    }
    return chosen.flip();
  }

  /// The same, with consecutive deltas of one block merged.
  public ByteBuffer merge(EventFilter filter, int to, EventFormat eventFormat) {
    var chosen = entries.subList(0, to).stream().filter(filter::accepts).toList();
    var merged = new ByteArrayOutputStream();
    for (var i = 0; i < chosen.size(); ) {
      var run = run(chosen, i);
      merged.writeBytes(
          run == 1
              ? eventFormat.frame(chosen.get(i))
              : joined(chosen.subList(i, i + run), eventFormat));
      i += run;
    }
    return ByteBuffer.wrap(merged.toByteArray());
  }

  /// The JSON of the entry at this index, in a page of [NativeFormat#INSTANCE]: the same bytes as in
  /// streams.
  public String json(int index) {
    var head = NativeFormat.head(entries.get(index)).length();
    var from = start(index) + head;
    return new String(
        bytes, from, ends[index] - SseFrames.END.length() - from, StandardCharsets.UTF_8);
  }

  private int start(int index) {
    return index == 0 ? 0 : ends[index - 1];
  }

  private static int run(List<Entry> entries, int from) {
    var to = from + 1;
    while (to < entries.size() && continues(entries.get(to - 1), entries.get(to))) {
      to++;
    }
    return to - from;
  }

  private static boolean continues(Entry one, Entry next) {
    return one.event() instanceof ContentDelta first
        && next.event() instanceof ContentDelta second
        && Objects.equals(first.blockId(), second.blockId())
        && Objects.equals(one.taskId(), next.taskId());
  }

  private static byte[] joined(List<Entry> run, EventFormat eventFormat) {
    var text = new StringBuilder();
    for (var entry : run) {
      text.append(((ContentDelta) entry.event()).delta());
    }
    var first = (ContentDelta) run.getFirst().event();
    var last = run.getLast();
    var delta = new ContentDelta(text.toString(), first.index(), first.blockId());
    return eventFormat.merged(
        new Entry(
            last.contextId(),
            last.position(),
            last.eventId(),
            last.timestamp(),
            last.origin(),
            delta),
        run.getFirst().position().seq());
  }
}
