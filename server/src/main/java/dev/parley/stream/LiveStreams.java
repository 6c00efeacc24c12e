package dev.parley.stream;

import dev.parley.runtime.Threads;
import dev.parley.runtime.Time;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// The streams that wait without a thread: a few delivery threads send them new events, and one
/// timer wakes those that must send a heartbeat.
///
/// The monitor guards the timer: while there are streams that wait, it is set to the time of the next
/// heartbeat, or to an earlier time.
public final class LiveStreams implements AutoCloseable {

  /// Each processor has a delivery thread, up to this number: a delivery is nearly all processor
  /// time of a system call.
  private static final int THREADS_MAX = 4;

  /// The shortest time between two checks for heartbeats.
  private static final Duration CHECK_MIN = Duration.ofMillis(20);

  private final Threads threads;
  private final Time time;
  private final Duration heartbeat;
  private final List<DeliveryThread> deliverers;
  private final AtomicInteger nextIndex = new AtomicInteger();
  private Time.@Nullable Timer timer;
  private long checkAt;
  private boolean closed;

  /// @param heartbeat the interval of heartbeats; zero for none
  public LiveStreams(Threads threads, Time time, Duration heartbeat) {
    this.threads = threads;
    this.time = time;
    this.heartbeat = heartbeat;
    var count = Math.clamp(Runtime.getRuntime().availableProcessors(), 1, THREADS_MAX);
    this.deliverers =
        IntStream.range(0, count)
            .mapToObj(i -> new DeliveryThread(threads, "parley-delivery-" + i))
            .toList();
  }

  /// How many streams wait without a thread, or are sent events at the moment.
  public int count() {
    return deliverers.stream()
        .flatMap(deliverer -> deliverer.groups().stream())
        .mapToInt(group -> group.streams().size())
        .sum();
  }

  /// The delivery thread of the next stream: they take turns.
  DeliveryThread nextDeliverer() {
    return deliverers.get(Math.floorMod(nextIndex.getAndIncrement(), deliverers.size()));
  }

  void startThread(Runnable work) {
    threads.start("live-stream", work);
  }

  /// Makes sure that heartbeats are checked at this time, or earlier.
  synchronized void checkHeartbeatAt(long at) {
    if (!heartbeat.isPositive() || closed || (timer != null && checkAt - at <= 0)) {
      return;
    }
    if (timer != null) {
      timer.cancel();
    }
    var delay = Duration.ofNanos(Math.max(CHECK_MIN.toNanos(), time.remaining(at)));
    checkAt = time.deadline(delay);
    timer = time.schedule("heartbeats", delay, this::checkHeartbeats);
  }

  private void checkHeartbeats() {
    synchronized (this) {
      timer = null;
    }
    // A heartbeat that is due is sent now at the earliest, so its stream's next one is due then.
    var next = time.deadline(heartbeat);
    var any = false;
    try {
      for (var stream : streams().toList()) {
        any = true;
        var at = stream.heartbeatAt();
        if (time.remaining(at) <= 0) {
          stream.resume();
        } else if (at - next < 0) {
          next = at;
        }
      }
    } finally {
      if (any) {
        checkHeartbeatAt(next);
      }
    }
  }

  private Stream<LiveStream> streams() {
    return deliverers.stream()
        .flatMap(deliverer -> deliverer.groups().stream())
        .flatMap(group -> group.streams().stream());
  }

  /// Ends the threads. The streams must have ended before.
  @Override
  public void close() {
    synchronized (this) {
      closed = true;
      if (timer != null) {
        timer.cancel();
      }
    }
    deliverers.forEach(DeliveryThread::close);
  }
}
