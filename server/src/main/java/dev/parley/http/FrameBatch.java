package dev.parley.http;

import dev.parley.protocol.Entry;
import dev.parley.protocol.Position;
import dev.parley.protocol.TaskEvent.TaskComplete;
import dev.parley.protocol.TaskEvent.TaskStatus;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.TaskState;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Frames that are ready for a reader, as one write. `reached` is the position after `frames`;
/// `last` is true if the reader's task has ended. `newest` is the time of the last entry.
record FrameBatch(ByteBuffer frames, ReadPosition reached, boolean last, Instant newest) {

  private static final int READ_MIN = 4;
  private static final int READ_MAX = 1024;

  /// A reader's position, and the average size of the frames there.
  record ReadPosition(Position position, int frameBytes) {

    /// A position at which the size of frames is unknown: the size is a conservative guess.
    static ReadPosition at(Position position) {
      return new ReadPosition(position, 8 * 1024);
    }

    /// How many entries to read at once, so that large entries do not fill the memory.
    int readMax() {
      return Math.clamp(4L * FramePage.BYTES / Math.max(1, frameBytes), READ_MIN, READ_MAX);
    }
  }

  /// Reads frames that follow `from`, up to `head`, about as many as fit into one page.
  static FrameBatch next(
      ContextStream.StreamDependencies streamDependencies,
      ContextStream.StreamRequest streamRequest,
      ReadPosition from,
      Position head)
      throws InterruptedException {
    var buffers = new ArrayList<ByteBuffer>();
    var readPosition = from;
    var size = 0;
    var end = -1;
    var newest = Instant.EPOCH;
    while (head.after(readPosition.position()) && size < FramePage.BYTES && end < 0) {
      var page = page(streamDependencies, streamRequest, readPosition);
      end = end(page.entries(), streamRequest.untilTaskEnds());
      var to = end < 0 ? page.entries().size() : end + 1;
      var frames =
          streamRequest.merge()
              ? page.merge(streamRequest.filter(), to, streamRequest.format())
              : page.select(streamRequest.filter(), to);
      size += frames.remaining();
      buffers.add(frames);
      newest = page.entries().get(to - 1).timestamp();
      readPosition =
          new ReadPosition(
              page.entries().get(to - 1).position(),
              Math.max(1, page.bytes().length / page.entries().size()));
    }
    return new FrameBatch(join(buffers, size), readPosition, end >= 0, newest);
  }

  private static FramePage page(
      ContextStream.StreamDependencies streamDependencies,
      ContextStream.StreamRequest streamRequest,
      ReadPosition readPosition)
      throws InterruptedException {
    // Pages that were cached live may hold one event each; deltas can only be merged in larger
    // ones.
    return streamRequest.merge()
        ? streamDependencies
            .cache()
            .read(
                streamRequest.context(),
                readPosition.position(),
                streamRequest.format(),
                readPosition.readMax())
        : streamDependencies
            .cache()
            .page(
                streamRequest.context(),
                readPosition.position(),
                streamRequest.format(),
                readPosition.readMax());
  }

  private static ByteBuffer join(List<ByteBuffer> buffers, int size) {
    if (buffers.size() == 1) {
      return buffers.getFirst();
    }
    var all = ByteBuffer.allocate(size);
    buffers.forEach(all::put);
    return all.flip();
  }

  /// The index of the entry with which the task ends, or -1.
  private static int end(List<Entry> entries, @Nullable TaskId task) {
    if (task != null) {
      for (var i = 0; i < entries.size(); i++) {
        if (task.equals(entries.get(i).taskId()) && ends(entries.get(i))) {
          return i;
        }
      }
    }
    return -1;
  }

  private static boolean ends(Entry entry) {
    return switch (entry.event()) {
      case TaskComplete _ -> true;
      case TaskStatus(var status, _, _) ->
          status == TaskState.FAILED || status == TaskState.CANCELED;
      default -> false; // Nothing else ends a task.
    };
  }
}
