package dev.parley.bench;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;

/// The process of the readers: opens many streams of one context, requests events, and counts them.
///
/// It requests the next events when every reader has received the last ones. One event at a time is
/// one write; many events may share a write. Both servers get the same requests.
public final class FanoutReaders {

  private static final int THREADS = 2;
  private static final int THOROUGH_EVERY = 16;
  private static final int ROUNDS_MIN = 3;
  private static final int OPENING_MAX = 200;
  private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(60);
  private static final int BURST = 100;

  private final ReaderTotals readerTotals = new ReaderTotals();
  private final ServerControl serverControl;
  private final int readers;
  private long asked;

  private FanoutReaders(ServerControl serverControl, int readers) {
    this.serverControl = serverControl;
    this.readers = readers;
  }

  /// Arguments: `sse` or `socket.io`, the server's port, its control port, the path, the number of
  /// readers, milliseconds.
  public static void main(String[] arguments) throws IOException, InterruptedException {
    var port = Integer.parseInt(arguments[1]);
    var readers = Integer.parseInt(arguments[4]);
    var millis = Long.parseLong(arguments[5]);
    try (var serverControl = new ServerControl(Integer.parseInt(arguments[2]))) {
      var before = serverControl.memory();
      var crowds = new ArrayList<ReaderGroup>();
      for (var i = 0; i < Math.min(THREADS, readers); i++) {
        crowds.add(new ReaderGroup(port));
      }
      var run = new FanoutReaders(serverControl, readers);
      run.open(crowds, arguments[0].equals("sse"), port, arguments[3]);
      System.out.println("open " + (serverControl.memory() - before) / readers);
      for (var count : List.of(1, BURST)) {
        var earlier = run.readerTotals.received();
        run.rounds(count, millis);
        var result = run.measure(count, millis);
        System.out.println("result " + result + " " + (run.readerTotals.received() - earlier));
      }
      if (run.readerTotals.missing() > 0) {
        throw new IOException(run.readerTotals.missing() + " events were missing");
      }
    }
    System.exit(0);
  }

  private void open(List<ReaderGroup> crowds, boolean sse, int port, String path)
      throws IOException, InterruptedException {
    for (var i = 0; i < readers; i++) {
      var thorough = i % THOROUGH_EVERY == 0;
      var streamReader =
          sse
              ? new SseStreamReader(path, port, thorough, readerTotals)
              : new SocketIoStreamReader(port, thorough, readerTotals);
      crowds.get(i % crowds.size()).add(streamReader);
      await(readerTotals::open, Math.max(0, i - OPENING_MAX));
    }
    await(readerTotals::open, readers);
    // The first events of the stream have arrived when the count no longer changes.
    for (var seen = -1L; seen != readerTotals.received(); TimeUnit.MILLISECONDS.sleep(500)) {
      seen = readerTotals.received();
    }
    asked = readerTotals.received();
  }

  /// Deliveries per second, and their p50 and p99 in milliseconds.
  private String measure(int count, long millis) throws IOException, InterruptedException {
    readerTotals.times().clear();
    var before = readerTotals.received();
    var begin = System.nanoTime();
    rounds(count, millis);
    var seconds = (System.nanoTime() - begin) / 1e9;
    return String.format(
        Locale.ROOT,
        "%.1f %.3f %.3f",
        (readerTotals.received() - before) / seconds,
        readerTotals.times().millis(0.5),
        readerTotals.times().millis(0.99));
  }

  private void rounds(int count, long millis) throws IOException, InterruptedException {
    var end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
    for (var round = 0; round < ROUNDS_MIN || System.nanoTime() < end; round++) {
      serverControl.emit(count);
      asked += (long) count * readers;
      await(readerTotals::received, asked);
    }
  }

  private interface Count {
    long now();
  }

  /// Polls with short sleeps: signals between the threads would cost too much time.
  private static void await(Count count, long wanted) throws IOException, InterruptedException {
    var deadline = System.nanoTime() + PATIENCE_NANOS;
    while (count.now() < wanted) {
      if (System.nanoTime() > deadline) {
        throw new IOException("only " + count.now() + " of " + wanted + " arrived");
      }
      TimeUnit.MICROSECONDS.sleep(50);
    }
  }
}
