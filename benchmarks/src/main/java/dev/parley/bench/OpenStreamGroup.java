package dev.parley.bench;

import dev.parley.protocol.ContextId;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/// Many open streams, each of another context, read by one thread.
final class OpenStreamGroup implements AutoCloseable {

  private static final int OPENING_MAX = 200;
  private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(120);

  private final ReaderTotals readerTotals = new ReaderTotals();
  private final ReaderGroup readerGroup;

  private OpenStreamGroup(int port) throws IOException {
    readerGroup = new ReaderGroup(port);
  }

  /// Opens a stream for each context. Returns when each has received its first event.
  static OpenStreamGroup open(int port, List<ContextId> contexts)
      throws IOException, InterruptedException {
    var openStreamGroup = new OpenStreamGroup(port);
    for (var i = 0; i < contexts.size(); i++) {
      var path = "/api/contexts/" + contexts.get(i) + "/stream";
      openStreamGroup.readerGroup.add(
          new SseStreamReader(path, port, false, openStreamGroup.readerTotals));
      await(openStreamGroup.readerTotals::open, i - OPENING_MAX);
    }
    await(openStreamGroup.readerTotals::open, contexts.size());
    return openStreamGroup;
  }

  /// Waits until all streams together have received `events`, including those that were sent when
  /// they opened.
  void awaitReceived(long events) throws IOException, InterruptedException {
    await(readerTotals::received, events);
  }

  private static void await(LongSupplier count, long wanted)
      throws IOException, InterruptedException {
    var deadline = System.nanoTime() + PATIENCE_NANOS;
    while (count.getAsLong() < wanted) {
      if (System.nanoTime() > deadline) {
        throw new IOException("only " + count.getAsLong() + " of " + wanted + " arrived");
      }
      TimeUnit.MICROSECONDS.sleep(50);
    }
  }

  @Override
  public void close() throws IOException {
    readerGroup.close();
  }
}
