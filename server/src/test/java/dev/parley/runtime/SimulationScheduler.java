package dev.parley.runtime;

import java.lang.reflect.Constructor;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.PriorityQueue;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/// Runs all threads of a simulated world on the calling thread, one at a time, in virtual time. A
/// seed decides the order, and the same seed repeats it exactly.
///
/// A thread runs until it waits, so each wait is a scheduling point. Of all threads that can run,
/// the seed chooses the next. Time moves only when no thread can run, to the next deadline. Threads
/// belong to a [SimulatedProcess], which can be killed, or suspended and resumed.
///
/// All threads are virtual ones, also those that are platform threads in a server. Killed and
/// suspended threads never end, so the JVM must not track virtual threads
/// (`-Djdk.trackAllThreads=false`), or it keeps them for ever. Needs
/// `--add-opens java.base/java.lang=ALL-UNNAMED`, because the JDK has no public way to choose the
/// scheduler of a virtual thread.
public final class SimulationScheduler {

  private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");
  private static final Constructor<?> BUILDER = builderOfVirtualThreads();

  private final Random random;
  private final PriorityQueue<Due> due = new PriorityQueue<>();
  // Threads that become ready, in any order, also from threads of the JDK.
  private final Queue<Ready> arriving = new ConcurrentLinkedQueue<>();
  // In the order of the numbers, so that the order of their arrival does not matter.
  private final List<Ready> ready = new ArrayList<>();
  private int threads;
  private long dues;
  private long nanos;
  private long steps;
  private long fingerprint;
  private @Nullable Throwable failure;

  public SimulationScheduler(long seed) {
    this.random = new Random(seed);
  }

  private static Constructor<?> builderOfVirtualThreads() {
    try {
      var constructor =
          Class.forName("java.lang.ThreadBuilders$VirtualThreadBuilder")
              .getDeclaredConstructor(Executor.class);
      constructor.setAccessible(true);
      return constructor;
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException("this JDK has no scheduler for virtual threads", e);
    }
  }

  /// Runs the world until `done`, until nothing can happen any more, or until `stepsMax` threads
  /// have run. True if it is done.
  public boolean run(BooleanSupplier done, long stepsMax) {
    while (failure == null && !done.getAsBoolean()) {
      if (steps >= stepsMax || !step()) {
        return false;
      }
    }
    return failure == null;
  }

  /// False if nothing can happen any more.
  private boolean step() {
    takeArriving();
    if (!ready.isEmpty()) {
      run(ready.remove(ready.size() == 1 ? 0 : random.nextInt(ready.size())));
      return true;
    }
    var next = due.poll();
    if (next == null) {
      return false;
    }
    nanos = Math.max(nanos, next.nanos);
    next.action.run();
    return true;
  }

  private void run(Ready next) {
    steps++;
    var thread = next.thread();
    fingerprint = 31 * (31 * fingerprint + thread.number) + nanos;
    next.continuation().run();
  }

  private void takeArriving() {
    Ready next;
    while ((next = arriving.poll()) != null) {
      next.thread().process.admit(next);
    }
  }

  private void add(Ready next) {
    var at = ready.size();
    while (at > 0 && ready.get(at - 1).thread().number > next.thread().number) {
      at--;
    }
    ready.add(at, next);
  }

  /// Runs `action` after `delay`, between threads. It must not wait.
  public Cancellation after(Duration delay, Runnable action) {
    return at(nanos + delay.toNanos(), action);
  }

  private Due at(long when, Runnable action) {
    var next = new Due(when, dues++, action);
    due.add(next);
    return next;
  }

  /// The virtual time since the start.
  public Duration now() {
    return Duration.ofNanos(nanos);
  }

  /// How often a thread has run.
  public long steps() {
    return steps;
  }

  /// A number that depends on the order of all steps, and on their times.
  public long fingerprint() {
    return fingerprint;
  }

  /// The exception that ended a thread, or null.
  public @Nullable Throwable failure() {
    return failure;
  }

  /// The source of all randomness of the world.
  public Random random() {
    return random;
  }

  /// A new process, whose clock runs `rate` times as fast as virtual time.
  public SimulatedProcess process(String name, double rate) {
    return new SimulatedProcess(name, rate);
  }

  /// What can be canceled.
  public interface Cancellation {
    void cancel();
  }

  private final class Due implements Comparable<Due>, Cancellation {
    private final long nanos;
    private final long order;
    private final Runnable action;

    Due(long nanos, long order, Runnable action) {
      this.nanos = nanos;
      this.order = order;
      this.action = action;
    }

    @Override
    public int compareTo(Due other) {
      var byTime = Long.compare(nanos, other.nanos);
      return byTime != 0 ? byTime : Long.compare(order, other.order);
    }

    @Override
    public void cancel() {
      due.remove(this);
    }
  }

  /// A thread that can run.
  private record Ready(SimulatedThread thread, Runnable continuation) {}

  /// A thread, and its number in the order of creation.
  private static final class SimulatedThread {
    private final SimulatedProcess process;
    private final int number;

    SimulatedThread(SimulatedProcess process, int number) {
      this.process = process;
      this.number = number;
    }
  }

  /// The threads and the clock of one process.
  public final class SimulatedProcess implements Threads {

    private final String name;
    private final double rate;
    private final ProcessTime time = new ProcessTime();
    private final List<Ready> held = new ArrayList<>();
    private boolean suspended;
    private boolean killed;

    private SimulatedProcess(String name, double rate) {
      this.name = name;
      this.rate = rate;
    }

    /// The clock of this process.
    public Time time() {
      return time;
    }

    /// Ends the process: none of its threads runs again.
    public void kill() {
      killed = true;
      held.clear();
      ready.removeIf(each -> each.thread().process == this);
    }

    public boolean killed() {
      return killed;
    }

    /// Stops all threads. Its clock and its timers continue.
    public void suspend() {
      suspended = true;
      for (var each : List.copyOf(ready)) {
        if (each.thread().process == this) {
          ready.remove(each);
          held.add(each);
        }
      }
    }

    /// Continues all threads.
    public void resume() {
      suspended = false;
      if (!killed) {
        held.forEach(SimulationScheduler.this::add);
      }
      held.clear();
    }

    private void admit(Ready next) {
      if (suspended) {
        held.add(next);
      } else if (!killed) {
        add(next);
      }
    }

    @Override
    public Thread unstarted(String threadName, Runnable work) {
      var simulated = new SimulatedThread(this, threads++);
      Executor executor = continuation -> arriving.add(new Ready(simulated, continuation));
      try {
        return ((Thread.Builder.OfVirtual) BUILDER.newInstance(executor))
            .name(name + "-" + threadName)
            .uncaughtExceptionHandler((_, uncaught) -> failure = uncaught)
            .unstarted(work);
      } catch (ReflectiveOperationException e) {
        throw new IllegalStateException("this JDK has no scheduler for virtual threads", e);
      }
    }

    @Override
    public Thread unstartedEssential(String threadName, Runnable work) {
      return unstarted(threadName, work);
    }

    @Override
    public ThreadFactory factory(String prefix) {
      return work -> unstarted(prefix, work);
    }

    @Override
    public ThreadFactory platformFactory(String threadName) {
      return work -> unstarted(threadName, work);
    }

    /// Virtual time, as the clock of this process shows it.
    private final class ProcessTime implements Time {

      @Override
      public Instant instant() {
        return START.plusNanos(nanos());
      }

      @Override
      public long nanos() {
        return (long) (nanos * rate);
      }

      private Due at(long deadline, Runnable action) {
        // Rounded up, so that the deadline has passed then.
        return SimulationScheduler.this.at((long) (deadline / rate) + 2, action);
      }

      @Override
      public void parkUntil(Object blocker, long deadline) {
        if (remaining(deadline) <= 0) {
          return;
        }
        var me = Thread.currentThread();
        var wait = at(deadline, () -> LockSupport.unpark(me));
        try {
          LockSupport.park(blocker);
        } finally {
          wait.cancel();
        }
      }

      @Override
      @SuppressWarnings("ThreadPriorityCheck") // Each yield is a scheduling point.
      public void pauseBriefly(Duration duration) {
        Thread.yield();
      }

      @Override
      public void waitUntil(Object monitor, long deadline) {
        // A thread of the JDK, which no seed controls, wakes virtual threads that were notified.
        throw new UnsupportedOperationException("a simulated thread cannot wait on a monitor");
      }

      @Override
      public Timer schedule(String timerName, Duration delay, Runnable action) {
        var timer = at(deadline(delay), () -> start(timerName, action));
        return timer::cancel;
      }
    }
  }
}
