package dev.parley.bench;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;

/// The process that reads: opens many streams of one context, asks for events, and counts.
///
/// The next events are only asked for when every reader has the last ones. With one event at a time,
/// each is written by itself; with many, they may share a write. The same for both servers.
public final class Readers {

  private static final int THREADS = 2;
  private static final int THOROUGH_EVERY = 16;
  private static final int ROUNDS_MIN = 3;
  private static final int OPENING_MAX = 200;
  private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(60);
  private static final int BURST = 100;

  private final Tally tally = new Tally();
  private final Control control;
  private final int readers;
  private long asked;

  private Readers(Control control, int readers) {
    this.control = control;
    this.readers = readers;
  }

  /// Arguments: `sse` or `socket.io`, the server's port, its control's, path, readers, milliseconds.
  public static void main(String[] arguments) throws IOException, InterruptedException {
    var port = Integer.parseInt(arguments[1]);
    var readers = Integer.parseInt(arguments[4]);
    var millis = Long.parseLong(arguments[5]);
    try (var control = new Control(Integer.parseInt(arguments[2]))) {
      var before = control.memory();
      var crowds = new ArrayList<Crowd>();
      for (var i = 0; i < Math.min(THREADS, readers); i++) {
        crowds.add(new Crowd(port));
      }
      var run = new Readers(control, readers);
      run.open(crowds, arguments[0].equals("sse"), port, arguments[3]);
      System.out.println("open " + (control.memory() - before) / readers);
      for (var count : List.of(1, BURST)) {
        var earlier = run.tally.received();
        run.rounds(count, millis);
        var result = run.measure(count, millis);
        System.out.println("result " + result + " " + (run.tally.received() - earlier));
      }
      if (run.tally.missing() > 0) {
        throw new IOException(run.tally.missing() + " events were missing");
      }
    }
    System.exit(0);
  }

  private void open(List<Crowd> crowds, boolean sse, int port, String path)
      throws IOException, InterruptedException {
    for (var i = 0; i < readers; i++) {
      var thorough = i % THOROUGH_EVERY == 0;
      var wire =
          sse ? new SseWire(path, port, thorough, tally) : new SocketIoWire(port, thorough, tally);
      crowds.get(i % crowds.size()).add(wire);
      await(tally::open, Math.max(0, i - OPENING_MAX));
    }
    await(tally::open, readers);
    // All that the stream begins with has arrived when nothing arrives any more.
    for (var seen = -1L; seen != tally.received(); TimeUnit.MILLISECONDS.sleep(500)) {
      seen = tally.received();
    }
    asked = tally.received();
  }

  /// Deliveries per second, and the times they took.
  private String measure(int count, long millis) throws IOException, InterruptedException {
    tally.times().clear();
    var before = tally.received();
    var begin = System.nanoTime();
    rounds(count, millis);
    var seconds = (System.nanoTime() - begin) / 1e9;
    return String.format(
        Locale.ROOT,
        "%.1f %.3f %.3f",
        (tally.received() - before) / seconds,
        tally.times().millis(0.5),
        tally.times().millis(0.99));
  }

  private void rounds(int count, long millis) throws IOException, InterruptedException {
    var end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
    for (var round = 0; round < ROUNDS_MIN || System.nanoTime() < end; round++) {
      control.emit(count);
      asked += (long) count * readers;
      await(tally::received, asked);
    }
  }

  private interface Count {
    long now();
  }

  /// Waits by looking again and again, in short sleeps: there is no time to tell one another.
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
