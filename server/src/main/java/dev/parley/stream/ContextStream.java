package dev.parley.stream;

import dev.parley.http.FrameStream;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Entry;
import dev.parley.protocol.Position;
import dev.parley.protocol.TaskEvent.TaskComplete;
import dev.parley.protocol.TaskEvent.TaskStatus;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.TaskState;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// A stream of one context, with frames that are encoded once for all readers.
///
/// It ends when its task has ended, when the context is deleted, when the server stops, or when the
/// reader disconnects.
public final class ContextStream implements FrameStream {

  /// The request of a reader. `untilTaskEnds` is the task with which the stream ends.
  public record StreamRequest(
      ContextId context,
      Position after,
      EventFilter filter,
      EventFormat format,
      boolean merge,
      @Nullable TaskId untilTaskEnds,
      @Nullable ObjectNode extraFields) {}

  private final StreamDependencies dependencies;
  private final StreamRequest request;

  public ContextStream(StreamDependencies dependencies, StreamRequest request) {
    this.dependencies = dependencies;
    this.request = request;
  }

  @Override
  public void run(FrameSink frameSink) throws IOException {
    var source = new ContextSource(dependencies.log(), request.context());
    SseSubscription.run(
        dependencies,
        source,
        new FrameEncoder(dependencies, request),
        new NativeControlFrames(),
        request.after(),
        source::lag,
        frameSink);
  }

  private final class NativeControlFrames implements SseSink.ControlFrames<Position> {

    @Override
    public byte[] open(Position start) {
      var head = dependencies.log().head(request.context());
      dependencies.countReplay(start, head);
      return request
          .format()
          .open(
              new EventFormat.StreamOpening(
                  request.context(), start, head, dependencies.heartbeat(), request.extraFields()));
    }

    @Override
    public byte[] heartbeat(Position position) {
      return SseFrames.heartbeat(position);
    }

    @Override
    public byte[] gap(Position position, Position requested) {
      dependencies.countGap("ahead-of-head");
      return request.format().gap(position, "ahead-of-head", requested.toString());
    }

    @Override
    public byte[] deleted(Position position) {
      dependencies.countGap("deleted");
      return request.format().gap(position, "deleted", "");
    }
  }

  /// Selects frames of one context for a reader from pages that are encoded once for all readers.
  /// For one thread at a time.
  private static final class FrameEncoder
      implements Subscription.Encoder<Position, SseSink.Frames> {

    private final StreamDependencies dependencies;
    private final ContextStream.StreamRequest request;
    private int readMax = FramePage.READ_FIRST;
    private boolean live;
    private boolean ended;

    FrameEncoder(StreamDependencies dependencies, ContextStream.StreamRequest request) {
      this.dependencies = dependencies;
      this.request = request;
    }

    @Override
    public boolean ended(Position position) {
      return ended;
    }

    /// Frames up to the present end of the log, about as many as fit into one page.
    @Override
    public Subscription.Batch<Position, SseSink.Frames> next(Position from)
        throws InterruptedException {
      var head = dependencies.log().head(request.context());
      var buffers = new ArrayList<ByteBuffer>();
      var position = from;
      var size = 0;
      var newest = Instant.EPOCH;
      while (head.after(position) && size < FramePage.BYTES && !ended) {
        var page = page(position);
        var end = end(page.entries(), request.untilTaskEnds());
        ended = end >= 0;
        var to = ended ? end + 1 : page.entries().size();
        var frames =
            request.merge()
                ? page.merge(request.filter(), to, request.format())
                : page.select(request.filter(), to);
        size += frames.remaining();
        buffers.add(frames);
        var last = page.entries().get(to - 1);
        newest = last.timestamp();
        position = last.position();
        readMax = page.readMax();
      }
      var wasLive = live;
      live = !head.after(position);
      return new Subscription.Batch<>(
          size == 0 ? null : new SseSink.Frames(join(buffers, size), wasLive ? newest : null),
          position);
    }

    /// What follows `from` until `head`, for all readers of the same context, format and filter that
    /// have everything up to `from`.
    private record SharedBatch(
        StreamRequest of,
        Position from,
        Position head,
        Subscription.Batch<Position, SseSink.Frames> batch) {

      boolean fits(StreamRequest request, Position from, Position head) {
        return this.from.equals(from)
            && this.head.equals(head)
            && of.context().equals(request.context())
            && of.format().equals(request.format())
            && of.filter().equals(request.filter());
      }
    }

    @Override
    public Subscription.@Nullable Batch<Position, SseSink.Frames> nextInMemory(
        Position from, Subscription.Memo memo) throws InterruptedException {
      var log = dependencies.log();
      var head = log.head(request.context());
      if (!head.after(from)) {
        return new Subscription.Batch<>(null, from);
      }
      var shares = live && !request.merge() && request.untilTaskEnds() == null;
      if (shares
          && memo.value() instanceof SharedBatch shared
          && shared.fits(request, from, head)) {
        return shared.batch();
      }
      if (request.merge()
          || !request.format().selfContained()
          || request.filter().tasks().needsLookup()
          || !log.inMemory(request.context(), from)) {
        return null;
      }
      var batch = next(from);
      if (shares && live) {
        memo.set(new SharedBatch(request, from, head, batch));
      }
      return batch;
    }

    private FramePage page(Position position) throws InterruptedException {
      // Pages that were cached live may hold one event each; deltas can only be merged in larger
      // ones.
      return request.merge()
          ? dependencies.cache().read(request.context(), position, request.format(), readMax)
          : dependencies.cache().page(request.context(), position, request.format(), readMax);
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
}
