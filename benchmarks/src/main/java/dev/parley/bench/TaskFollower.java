package dev.parley.bench;

import java.io.IOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// Follows the events of a task over one server, and connects again whenever the stream ends.
final class TaskFollower implements AutoCloseable {

  /// What arrives.
  enum Progress {
    /// Text of the task.
    TEXT,
    /// The event that says that another server has continued the task.
    CONTINUED
  }

  private static final String TEXT = "content-delta";
  private static final String STATUS = "task-status";
  private static final Pattern TIMESTAMP = Pattern.compile("\"timestamp\":\"([^\"]+)\"");
  private static final String RECOVERED = "\"recovered\":true";

  private static final long PATIENCE_SECONDS = 60;
  private static final long CLOSE_NANOS = 1_000_000;

  private final int port;
  private final String path;
  private final Thread thread;
  // Guarded by itself.
  private final List<Arrival> arrivals = new ArrayList<>();
  private volatile @Nullable EventLines open;
  private volatile boolean closed;

  private record Arrival(Progress progress, Instant written, Instant at) {}

  /// Follows the context with this path.
  TaskFollower(int port, String path) {
    this.port = port;
    this.path = path + "/stream?kinds=" + STATUS + "," + TEXT + "&after=";
    thread = Thread.ofPlatform().daemon().name("bench-follower").start(this::run);
  }

  private void run() {
    var position = "0";
    while (!closed) {
      try (var stream = new EventLines(port, path + position)) {
        open = stream;
        for (var kind = stream.next(); kind.isPresent() && !closed; kind = stream.next()) {
          position = stream.position();
          if (kind.get().equals(TEXT)) {
            add(Progress.TEXT, stream.data());
          } else if (kind.get().equals(STATUS)) {
            var data = stream.data();
            if (data.contains(RECOVERED)) {
              add(Progress.CONTINUED, data);
            }
          }
        }
      } catch (IOException disconnected) {
        // It connects again.
      }
    }
  }

  private void add(Progress progress, String data) {
    var timestamp = TIMESTAMP.matcher(data);
    var written = timestamp.find() ? Instant.parse(timestamp.group(1)) : Instant.EPOCH;
    synchronized (arrivals) {
      arrivals.add(new Arrival(progress, written, Instant.now()));
      arrivals.notifyAll();
    }
  }

  /// Waits for the first progress of this kind after `time`.
  Instant await(Progress progress, Instant time) throws IOException, InterruptedException {
    var deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
    synchronized (arrivals) {
      while (true) {
        var found = first(one -> one.progress() == progress && one.at().isAfter(time));
        if (found.isPresent()) {
          return found.get();
        }
        var left = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime());
        if (left <= 0) {
          throw new IOException("no " + progress + " within " + PATIENCE_SECONDS + " s");
        }
        arrivals.wait(left);
      }
    }
  }

  private Optional<Instant> first(Predicate<Arrival> wanted) {
    return arrivals.stream().filter(wanted).findFirst().map(Arrival::at);
  }

  /// When the last text before the task continued was written. It may have arrived later, from
  /// another server.
  Instant lastTextBeforeContinued() {
    synchronized (arrivals) {
      return arrivals.stream()
          .takeWhile(one -> one.progress() == Progress.TEXT)
          .map(Arrival::written)
          .reduce(Instant.EPOCH, (_, later) -> later);
    }
  }

  @Override
  public void close() throws IOException {
    closed = true;
    // Repeated, because it may just be connecting.
    while (thread.isAlive()) {
      var stream = open;
      if (stream != null) {
        stream.close();
      }
      LockSupport.parkNanos(CLOSE_NANOS);
    }
  }
}
