package dev.parley.stream;

import dev.parley.http.ChunkBuffer;
import dev.parley.runtime.Threads;
import java.lang.System.Logger.Level;
import java.nio.ByteBuffer;
import java.util.Collection;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import org.jspecify.annotations.Nullable;

/// A thread that sends new events to its streams, source by source. It never waits for a reader.
final class DeliveryThread implements AutoCloseable {

  private static final System.Logger LOG = System.getLogger(DeliveryThread.class.getName());

  /// What the thread uses for all its streams. `encoded` are the frames in `chunk`.
  static final class Buffers {
    final Subscription.Memo memo = new Subscription.Memo();
    private final ChunkBuffer chunk = new ChunkBuffer();
    private @Nullable ByteBuffer encoded;

    @SuppressWarnings("ReferenceEquality") // The same buffer: comparing its content costs more.
    ChunkBuffer chunk(ByteBuffer frames) {
      if (frames != encoded) {
        chunk.set(frames);
        encoded = frames;
      }
      return chunk;
    }
  }

  private final Map<Subscription.Source<?>, StreamGroup> groups = new ConcurrentHashMap<>();
  private final LinkedBlockingQueue<StreamGroup> queue = new LinkedBlockingQueue<>();
  private final Thread thread;

  DeliveryThread(Threads threads, String name) {
    thread = threads.startPlatform(name, this::run);
  }

  /// Adds a stream to the group of its source.
  StreamGroup add(Subscription.Source<?> source, LiveStream stream) {
    return groups.compute(
        source,
        (_, present) -> {
          var group = present == null ? new StreamGroup(source, queue::add) : present;
          group.streams().add(stream);
          return group;
        });
  }

  void remove(StreamGroup group, LiveStream stream) {
    groups.computeIfPresent(
        group.source,
        (_, present) -> {
          group.streams().remove(stream);
          return present == group && group.streams().isEmpty() ? null : present;
        });
    if (group.streams().isEmpty()) {
      group.close();
    }
  }

  Collection<StreamGroup> groups() {
    return groups.values();
  }

  private void run() {
    var buffers = new Buffers();
    try {
      while (true) {
        deliver(queue.take(), buffers);
      }
    } catch (InterruptedException closing) {
      // The server stops.
    }
  }

  private static void deliver(StreamGroup group, Buffers buffers) {
    for (var stream : group.takeChanged()) {
      try {
        stream.deliver(buffers);
      } catch (RuntimeException | Error bug) { // The root of a thread: the other streams continue.
        LOG.log(Level.ERROR, "a stream failed", bug);
      }
    }
  }

  @Override
  public void close() {
    thread.interrupt();
  }
}
