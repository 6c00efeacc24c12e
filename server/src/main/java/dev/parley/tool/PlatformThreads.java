package dev.parley.tool;

import dev.parley.protocol.Rejection;
import dev.parley.runtime.SystemThreads;
import dev.parley.runtime.SystemTime;
import dev.parley.runtime.Threads;
import dev.parley.runtime.Time;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.Arrays;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// Runs code that may never end, such as tools, on platform threads, while the caller waits.
///
/// The server runs on virtual threads, which share a few carrier threads. Code that computes
/// without end would block a carrier for ever, and as many calls as there are processors would stop
/// the server. Platform threads are scheduled by the operating system.
///
/// An interrupted caller interrupts the code. Code that does not stop within the grace period is
/// abandoned, and counts as stuck until it ends. When [#STUCK_MAX] calls of one name are stuck,
/// further calls are rejected. Safe for use by many threads.
public final class PlatformThreads {

  private static final System.Logger LOGGER = System.getLogger(PlatformThreads.class.getName());
  private static final int FRAMES_SHOWN = 10;

  /// The maximum number of calls that run at once; others wait.
  static final int RUNNING_MAX = 256;

  /// The maximum number of calls that wait for people on their threads, in addition to those that
  /// run.
  private static final int ASKING_MAX = 1_000;

  /// How long an interrupted call may take to stop.
  public static final Duration GRACE = Duration.ofSeconds(1);

  /// The maximum number of stuck calls of one name.
  public static final int STUCK_MAX = 4;

  /// Work that can be interrupted.
  @FunctionalInterface
  public interface InterruptibleWork<T> {

    /// Does the work.
    T run() throws InterruptedException;
  }

  /// The work of a tool.
  @FunctionalInterface
  public interface ToolWork<T> {

    /// Does the work while it holds this place.
    T run(RunPermit runPermit) throws InterruptedException;
  }

  /// The code did not stop when it was interrupted. It still runs, and its result is ignored.
  public static final class StuckCallException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private StuckCallException(String message) {
      super(message);
    }
  }

  private final Time time;
  private final Threads threads;
  private final Semaphore running = new Semaphore(RUNNING_MAX, true);
  private final Semaphore asking = new Semaphore(ASKING_MAX);
  private final Map<String, Set<Job<?>>> stuck = new ConcurrentHashMap<>();

  public PlatformThreads(Time time, Threads threads) {
    this.time = time;
    this.threads = threads;
  }

  /// Uses the time and threads of the machine.
  public PlatformThreads() {
    this(new SystemThreads());
  }

  private PlatformThreads(Threads threads) {
    this(new SystemTime(threads), threads);
  }

  /// The place of a tool call among the running calls. Safe for use by many threads.
  public final class RunPermit {
    private Semaphore held = running;
    private boolean left;

    private RunPermit() {}

    /// Gives the place to another call while this call waits for a person.
    public synchronized void yieldToOthers() {
      if (!left && held.equals(running) && asking.tryAcquire()) {
        running.release();
        held = asking;
      }
    }

    private synchronized void release() {
      if (!left) {
        left = true;
        held.release();
      }
    }
  }

  /// Runs a call of a tool, after waiting for a place.
  ///
  /// @throws StuckCallException if this thread was interrupted, and the tool does not stop
  /// @throws Rejection.Invalid if too many calls of the tool are stuck
  public <T> T call(String tool, String thread, ToolWork<T> work) throws InterruptedException {
    rejectIfStuck("tool", tool);
    running.acquire();
    var runPermit = new RunPermit();
    try {
      rejectIfStuck("tool", tool);
      return await(new Job<>("tool", tool, () -> work.run(runPermit)), thread, GRACE);
    } finally {
      runPermit.release();
    }
  }

  /// Runs the work of an agent, which needs no place: the scheduler limits how many agents work at
  /// once.
  ///
  /// @throws StuckCallException if this thread was interrupted, and the agent does not stop within `grace`
  /// @throws Rejection.Invalid if too many tasks of the agent are stuck
  public <T> T work(
      String agent, String thread, Duration grace, InterruptibleWork<T> interruptibleWork)
      throws InterruptedException {
    rejectIfStuck("agent", agent);
    return await(new Job<>("agent", agent, interruptibleWork), thread, grace);
  }

  /// The number of stuck threads.
  public int stuck() {
    return stuck.values().stream().mapToInt(Set::size).sum();
  }

  /// The number of tool calls that wait for a place.
  public int waiting() {
    return running.getQueueLength();
  }

  private void rejectIfStuck(String kind, String name) {
    var count = stuck.getOrDefault(kind + " " + name, Set.of()).size();
    if (count >= STUCK_MAX) {
      throw new Rejection.Invalid(
          "stuck",
          "the %s %s is rejected: %d of its calls were interrupted and still run. Calls are accepted again when those end, or after a restart of the server"
              .formatted(kind, name, count));
    }
  }

  private <T> T await(Job<T> job, String name, Duration grace) throws InterruptedException {
    // It inherits the context class loader of this thread.
    var thread = threads.startPlatform(name, job);
    try {
      job.await();
    } catch (InterruptedException stop) {
      thread.interrupt();
      if (!job.awaitFor(grace) && job.abandon(thread)) {
        throw new StuckCallException(
            "the %s %s did not stop within %d s after it was interrupted, and was abandoned"
                .formatted(job.kind, job.name, grace.toSeconds()));
      }
      return job.result(stop);
    }
    return job.result(null);
  }

  /// Work on its thread, and its result. The lock guards whether it has ended, and whether a caller
  /// still waits.
  private final class Job<T> implements Runnable {
    private final String kind;
    private final String name;
    private final InterruptibleWork<T> interruptibleWork;
    private boolean ended;
    private @Nullable T value;
    private @Nullable Throwable failure;
    private boolean abandoned;

    Job(String kind, String name, InterruptibleWork<T> interruptibleWork) {
      this.kind = kind;
      this.name = name;
      this.interruptibleWork = interruptibleWork;
    }

    @Override
    public void run() {
      try {
        value = interruptibleWork.run();
      } catch (Throwable thrown) { // The root of a thread: the caller gets it.
        failure = thrown;
      }
      synchronized (this) {
        ended = true;
        notifyAll();
        if (abandoned) {
          stuck.computeIfPresent(kind + " " + name, (_, jobs) -> without(jobs));
        }
      }
      if (abandoned) {
        LOGGER.log(Level.INFO, "the abandoned call of the {0} {1} has ended", kind, name);
      }
    }

    synchronized void await() throws InterruptedException {
      while (!ended) {
        wait();
      }
    }

    /// Waits this long, and ignores further interrupts. True if the work has ended.
    synchronized boolean awaitFor(Duration patience) {
      var deadline = time.deadline(patience);
      while (!ended && time.remaining(deadline) > 0) {
        try {
          time.waitUntil(this, deadline);
        } catch (InterruptedException again) {
          // It has already been interrupted.
        }
      }
      return ended;
    }

    private @Nullable Set<Job<?>> without(Set<Job<?>> jobs) {
      jobs.remove(this);
      return jobs.isEmpty() ? null : jobs;
    }

    /// Abandons the work. False if it has just ended.
    private synchronized boolean abandon(Thread thread) {
      if (ended) {
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
          "the {0} {1} does not stop and was abandoned on the thread {2}, at\n{3}",
          kind,
          name,
          thread.getName(),
          Arrays.stream(thread.getStackTrace())
              .limit(FRAMES_SHOWN)
              .map(frame -> "  " + frame)
              .collect(Collectors.joining("\n")));
      return true;
    }

    /// Returns the result of the work or throws its exception; `stop` is the interrupt of the
    /// caller, if any.
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
        default -> throw new IllegalStateException(kind + " " + name + " failed", failure);
      }
      return Objects.requireNonNull(value);
    }
  }
}
