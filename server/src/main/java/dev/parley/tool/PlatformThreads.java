package dev.parley.tool;

import dev.parley.protocol.Rejection;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.Arrays;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// Runs code that may never end, such as tools, on platform threads, while the caller waits.
///
/// The server itself runs on virtual threads, which share a few carrier threads. Code that computes without end would
/// keep a carrier for ever, and as many calls as there are processors would stop the server. Platform threads share
/// the processors with all others.
///
/// A caller that is interrupted interrupts the code. Code that does not stop within `grace` is left behind, and counted
/// as stuck until it ends. Where `stuckMax` calls of one name are stuck, further ones are refused. Safe for use by many threads.
public final class PlatformThreads {

  private static final System.Logger LOGGER = System.getLogger(PlatformThreads.class.getName());
  private static final int FRAMES_SHOWN = 10;

  /// The most calls that run at once; others wait.
  static final int RUNNING_MAX = 256;

  /// The most calls that wait for people on their threads, beside those that run.
  private static final int ASKING_MAX = 1_000;

  /// How long a call that was interrupted may take to stop.
  public static final Duration GRACE = Duration.ofSeconds(1);

  /// The most stuck calls of one name.
  public static final int STUCK_MAX = 4;

  /// Something to do that an interrupt ends.
  @FunctionalInterface
  public interface Work<T> {

    /// Does it.
    T run() throws InterruptedException;
  }

  /// The work of a tool.
  @FunctionalInterface
  public interface PlacedWork<T> {

    /// Does it, from this place on.
    T run(Place place) throws InterruptedException;
  }

  /// The code did not stop when it was interrupted, and goes on without anybody waiting for it.
  public static final class LeftBehind extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private LeftBehind(String message) {
      super(message);
    }
  }

  private final Semaphore running = new Semaphore(RUNNING_MAX, true);
  private final Semaphore asking = new Semaphore(ASKING_MAX);
  private final Map<String, Set<Job<?>>> stuck = new ConcurrentHashMap<>();

  /// The place of a call of a tool among those that run. Safe for use by many threads.
  public final class Place {
    private Semaphore held = running;
    private boolean left;

    private Place() {}

    /// The call is about to wait for a person: another one may have its place.
    public synchronized void yieldToOthers() {
      if (!left && held.equals(running) && asking.tryAcquire()) {
        running.release();
        held = asking;
      }
    }

    private synchronized void leave() {
      if (!left) {
        left = true;
        held.release();
      }
    }
  }

  /// Runs a call of a tool; waits for a place first.
  ///
  /// @throws LeftBehind if this thread was interrupted, and the tool does not stop
  /// @throws Rejection.Invalid if too many calls of the tool are stuck
  public <T> T call(String tool, String thread, PlacedWork<T> work) throws InterruptedException {
    refuseIfStuck("tool", tool);
    running.acquire();
    var place = new Place();
    try {
      refuseIfStuck("tool", tool);
      return await(new Job<>("tool", tool, () -> work.run(place)), thread, GRACE);
    } finally {
      place.leave();
    }
  }

  /// Runs the work of an agent, which needs no place: how many work at once is limited elsewhere.
  ///
  /// @throws LeftBehind if this thread was interrupted, and the agent does not stop within `grace`
  /// @throws Rejection.Invalid if too many tasks of the agent are stuck
  public <T> T work(String agent, String thread, Duration grace, Work<T> work)
      throws InterruptedException {
    refuseIfStuck("agent", agent);
    return await(new Job<>("agent", agent, work), thread, grace);
  }

  /// How many threads are stuck.
  public int stuck() {
    return stuck.values().stream().mapToInt(Set::size).sum();
  }

  /// How many calls of tools wait until others have ended.
  public int waiting() {
    return running.getQueueLength();
  }

  private void refuseIfStuck(String kind, String name) {
    var count = stuck.getOrDefault(kind + " " + name, Set.of()).size();
    if (count >= STUCK_MAX) {
      throw new Rejection.Invalid(
          "stuck",
          "the %s %s is refused: %d calls of it still run though they were told to stop. Calls are accepted again when those end, or after a restart of the server"
              .formatted(kind, name, count));
    }
  }

  private <T> T await(Job<T> job, String name, Duration grace) throws InterruptedException {
    // It inherits the context class loader of this thread.
    var thread = Thread.ofPlatform().daemon().name(name).start(job);
    try {
      job.ended.await();
    } catch (InterruptedException stop) {
      thread.interrupt();
      if (!awaitFor(job.ended, grace) && job.abandon(thread)) {
        throw new LeftBehind(
            "the %s %s did not stop within %d s when it was told to, and was left behind"
                .formatted(job.kind, job.name, grace.toSeconds()));
      }
      return job.result(stop);
    }
    return job.result(null);
  }

  /// Waits this long, whether somebody interrupts again or not.
  private static boolean awaitFor(CountDownLatch latch, Duration time) {
    var end = System.nanoTime() + time.toNanos();
    while (true) {
      try {
        return latch.await(end - System.nanoTime(), TimeUnit.NANOSECONDS);
      } catch (InterruptedException again) {
        // It is being stopped already.
      }
    }
  }

  /// Work on its thread, and what came of it. Its lock guards whether anybody still waits.
  private final class Job<T> implements Runnable {
    private final String kind;
    private final String name;
    private final Work<T> work;
    private final CountDownLatch ended = new CountDownLatch(1);
    private @Nullable T value;
    private @Nullable Throwable failure;
    private boolean abandoned;

    Job(String kind, String name, Work<T> work) {
      this.kind = kind;
      this.name = name;
      this.work = work;
    }

    @Override
    public void run() {
      try {
        value = work.run();
      } catch (Throwable thrown) { // The root of a thread: whoever waits gets it.
        failure = thrown;
      }
      synchronized (this) {
        ended.countDown();
        if (abandoned) {
          stuck.computeIfPresent(kind + " " + name, (_, jobs) -> without(jobs));
        }
      }
      if (abandoned) {
        LOGGER.log(Level.INFO, "the {0} {1} that did not stop has ended", kind, name);
      }
    }

    private @Nullable Set<Job<?>> without(Set<Job<?>> jobs) {
      jobs.remove(this);
      return jobs.isEmpty() ? null : jobs;
    }

    /// Nobody waits for the work any more. False if it has just ended.
    private synchronized boolean abandon(Thread thread) {
      if (ended.getCount() == 0) {
        return false;
      }
      abandoned = true;
      stuck.compute(
          kind + " " + name,
          (_, jobs) -> {
            var more = jobs == null ? ConcurrentHashMap.<Job<?>>newKeySet() : jobs;
            more.add(this);
            return more;
          });
      LOGGER.log(
          Level.WARNING,
          "the {0} {1} does not stop and is left behind on the thread {2}, at\n{3}",
          kind,
          name,
          thread.getName(),
          Arrays.stream(thread.getStackTrace())
              .limit(FRAMES_SHOWN)
              .map(frame -> "  " + frame)
              .collect(Collectors.joining("\n")));
      return true;
    }

    /// What the work returned or threw; `stop` is why it was told to stop, if it was.
    private T result(@Nullable InterruptedException stop) throws InterruptedException {
      switch (failure) {
        case null -> {}
        case InterruptedException interrupted -> {
          if (stop != null) {
            throw stop;
          }
          throw new IllegalStateException(kind + " " + name + " interrupted itself", interrupted);
        }
        case RuntimeException thrown -> throw thrown;
        default -> throw new IllegalStateException(kind + " " + name + " broke", failure);
      }
      return Objects.requireNonNull(value);
    }
  }
}
