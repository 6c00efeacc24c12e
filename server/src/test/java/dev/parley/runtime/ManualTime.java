package dev.parley.runtime;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;

/// Time that moves only when a test moves it. Thread-safe.
///
/// A test that expects a timer or a wait first waits until it exists ([#advanceToTimer],
/// [#advanceToWait]), so it does not depend on the speed of the machine.
public final class ManualTime implements Time {

  public static final Instant START = Instant.parse("2026-01-01T00:00:00Z");

  /// How long a test waits for something that must happen, in real time.
  private static final long GIVE_UP_SECONDS = 30;

  private final Threads threads;
  private final Set<Pending> pending = new LinkedHashSet<>();
  private Instant now = START;
  private long nanos;

  public ManualTime() {
    this(new SystemThreads());
  }

  public ManualTime(Threads threads) {
    this.threads = threads;
  }

  @Override
  public synchronized Instant instant() {
    return now;
  }

  @Override
  public synchronized long nanos() {
    return nanos;
  }

  /// Sets the clock on the wall, as an administrator or NTP does. No wait ends by it.
  public synchronized void setClock(Instant instant) {
    now = instant;
  }

  @Override
  public void parkUntil(Object blocker, long deadline) {
    var me = Thread.currentThread();
    var wait = new Pending(blocker, me.getName(), deadline, () -> LockSupport.unpark(me));
    if (add(wait)) {
      try {
        LockSupport.park(blocker);
      } finally {
        remove(wait);
      }
    }
  }

  @Override
  @SuppressWarnings("ThreadPriorityCheck") // Only lets other threads run.
  public void pauseBriefly(Duration duration) {
    Thread.yield();
  }

  @Override
  @SuppressWarnings("WaitNotInLoop") // Callers wait in a loop.
  public void waitUntil(Object monitor, long deadline) throws InterruptedException {
    var wait =
        new Pending(
            monitor,
            Thread.currentThread().getName(),
            deadline,
            () -> {
              synchronized (monitor) {
                monitor.notifyAll();
              }
            });
    if (add(wait)) {
      try {
        monitor.wait();
      } finally {
        remove(wait);
      }
    }
  }

  @Override
  public Timer schedule(String name, Duration delay, Runnable action) {
    var timer = new Pending(null, name, deadline(delay), () -> threads.start(name, action));
    if (!add(timer)) {
      timer.end().run();
    }
    return () -> remove(timer);
  }

  /// Moves time forward and ends what is due, in the order of the deadlines.
  public void advance(Duration duration) {
    long target;
    synchronized (this) {
      target = nanos + duration.toNanos();
    }
    for (var next = nextDue(target); next != null; next = nextDue(target)) {
      next.end().run();
    }
  }

  /// Waits until a timer whose name contains `name` is pending, and moves time to its end.
  public void advanceToTimer(String name) {
    advanceTo(each -> each.blocker() == null && each.name().contains(name), "timer " + name);
  }

  /// Waits until a thread whose name contains `thread` waits, and moves time to the end of the wait.
  public void advanceToWait(String thread) {
    advanceTo(each -> each.blocker() != null && each.name().contains(thread), "wait of " + thread);
  }

  /// The same, but ignores waits that end more than `max` from now.
  public void advanceToWait(String thread, Duration max) {
    advance(awaitWait(thread, max));
  }

  /// Moves time by `max` if a thread whose name contains `thread` waits for at most that.
  public void advanceIfWaiting(String thread, Duration max) {
    boolean waits;
    synchronized (this) {
      waits =
          pending.stream()
              .anyMatch(
                  each ->
                      each.blocker() != null
                          && each.name().contains(thread)
                          && each.deadline() - nanos <= max.toNanos());
    }
    if (waits) {
      advance(max);
    }
  }

  /// Runs `work` on a thread of this name, so that the test can move time meanwhile.
  public static <T> CompletableFuture<T> start(String thread, Callable<T> work) {
    var result = new CompletableFuture<T>();
    Thread.ofVirtual()
        .name(thread)
        .start(
            () -> {
              try {
                result.complete(work.call());
              } catch (Throwable failure) { // The thread of the test throws it.
                result.completeExceptionally(failure);
              }
            });
    return result;
  }

  /// Moves time to the end of each timer or wait whose name contains `name`, one after the other,
  /// until `work` is complete. Returns its result.
  public <T> T advanceUntil(CompletableFuture<T> work, String name) {
    var _ =
        work.whenComplete(
            (_, _) -> {
              synchronized (this) {
                notifyAll();
              }
            });
    Predicate<Pending> wanted = each -> each.name().contains(name);
    while (true) {
      Duration left;
      synchronized (this) {
        awaitUntil(() -> work.isDone() || pending.stream().anyMatch(wanted), name);
        if (work.isDone()) {
          return work.join();
        }
        left = Duration.ofNanos(await(wanted, name).deadline() - nanos);
      }
      advance(left);
    }
  }

  private void advanceTo(Predicate<Pending> wanted, String what) {
    Duration left;
    synchronized (this) {
      left = Duration.ofNanos(await(wanted, what).deadline() - nanos);
    }
    advance(left);
  }

  /// Waits until a timer whose name contains `name` is pending. Returns the time until its end.
  public synchronized Duration awaitTimer(String name) {
    var timer = await(each -> each.blocker() == null && each.name().contains(name), name);
    return Duration.ofNanos(timer.deadline() - nanos);
  }

  /// Waits until a thread whose name contains `thread` waits. Returns the time until its end.
  public synchronized Duration awaitWait(String thread) {
    var wait = await(each -> each.blocker() != null && each.name().contains(thread), thread);
    return Duration.ofNanos(wait.deadline() - nanos);
  }

  /// The same, but ignores waits that end more than `max` from now.
  public synchronized Duration awaitWait(String thread, Duration max) {
    var wait =
        await(
            each ->
                each.blocker() != null
                    && each.name().contains(thread)
                    && each.deadline() - nanos <= max.toNanos(),
            "wait of " + thread + " for at most " + max);
    return Duration.ofNanos(wait.deadline() - nanos);
  }

  /// Waits until no timer whose name contains `name` is pending.
  public synchronized void awaitNoTimer(String name) {
    awaitUntil(
        () -> timers().stream().noneMatch(each -> each.contains(name)), "end of timer " + name);
  }

  /// The names of all pending timers.
  public synchronized List<String> timers() {
    return pending.stream().filter(each -> each.blocker() == null).map(Pending::name).toList();
  }

  private Pending await(Predicate<Pending> wanted, String what) {
    awaitUntil(() -> pending.stream().anyMatch(wanted), what);
    return pending.stream()
        .filter(wanted)
        .min(Comparator.comparingLong(Pending::deadline))
        .orElseThrow();
  }

  private void awaitUntil(BooleanSupplier condition, String what) {
    var giveUp = System.nanoTime() + TimeUnit.SECONDS.toNanos(GIVE_UP_SECONDS);
    while (!condition.getAsBoolean()) {
      var left = (giveUp - System.nanoTime()) / 1_000_000;
      if (left <= 0) {
        throw new AssertionError("no " + what + ", only " + new ArrayList<>(pending));
      }
      try {
        wait(left);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new AssertionError("interrupted while waiting for " + what, e);
      }
    }
  }

  /// Takes the first pending timer or wait that ends by `target`, and moves time to its end. If
  /// there is none, moves time to `target`.
  private synchronized Pending nextDue(long target) {
    var next =
        pending.stream()
            .filter(each -> each.deadline() <= target)
            .min(Comparator.comparingLong(Pending::deadline))
            .orElse(null);
    if (next != null) {
      pending.remove(next);
    }
    moveTo(next == null ? target : next.deadline());
    notifyAll();
    return next;
  }

  private void moveTo(long target) {
    if (target > nanos) {
      now = now.plusNanos(target - nanos);
      nanos = target;
    }
  }

  /// False if the deadline has already passed.
  private synchronized boolean add(Pending one) {
    if (one.deadline() <= nanos) {
      return false;
    }
    pending.add(one);
    notifyAll();
    return true;
  }

  private synchronized void remove(Pending one) {
    pending.remove(one);
    notifyAll();
  }

  /// A timer, or a wait of a thread on `blocker`. Compared by identity.
  private static final class Pending {
    private final Object blocker;
    private final String name;
    private final long deadline;
    private final Runnable end;

    Pending(Object blocker, String name, long deadline, Runnable end) {
      this.blocker = blocker;
      this.name = name;
      this.deadline = deadline;
      this.end = end;
    }

    Object blocker() {
      return blocker;
    }

    String name() {
      return name;
    }

    long deadline() {
      return deadline;
    }

    Runnable end() {
      return end;
    }

    @Override
    public String toString() {
      return name + " at " + Duration.ofNanos(deadline);
    }
  }
}
