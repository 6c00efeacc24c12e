package dev.parley.door;

import dev.parley.protocol.Entry;
import dev.parley.protocol.Position;
import dev.parley.protocol.TaskEvent.TaskComplete;
import dev.parley.protocol.TaskEvent.TaskStatus;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.TaskState;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// All that is ready for a reader, as one write: `frames` lead to `position`; `last` says that the
/// reader's task has ended.
record Batch(ByteBuffer frames, Position position, boolean last) {

  /// Gathers frames from `from` to `head`, about as many as fit into one page.
  static Batch next(Tail.Parts parts, Tail.Wish wish, Position from, Position head)
      throws InterruptedException {
    var buffers = new ArrayList<ByteBuffer>();
    var position = from;
    var size = 0;
    var end = -1;
    while (head.after(position) && size < FramePage.BYTES && end < 0) {
      var page = page(parts, wish, position);
      end = end(page.entries(), wish.until());
      var to = end < 0 ? page.entries().size() : end + 1;
      var frames = wish.merge() ? page.merge(wish.filter(), to) : page.select(wish.filter(), to);
      size += frames.remaining();
      buffers.add(frames);
      position = page.entries().get(to - 1).position();
    }
    return new Batch(join(buffers, size), position, end >= 0);
  }

  private static FramePage page(Tail.Parts parts, Tail.Wish wish, Position after)
      throws InterruptedException {
    // Pages that were cached live may hold one event each; deltas can only be merged in larger
    // ones.
    return wish.merge()
        ? parts.cache().read(wish.context(), after)
        : parts.cache().page(wish.context(), after);
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
