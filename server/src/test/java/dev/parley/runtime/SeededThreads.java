package dev.parley.runtime;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadFactory;

/// Virtual threads that run one at a time, in an order that a seed decides.
///
/// Each start and each end of a wait is a scheduling point: of all threads that can run, the seed
/// chooses the next. The same seed repeats the same order as long as only these threads act.
/// Platform threads are not controlled. Needs `--add-opens java.base/java.lang=ALL-UNNAMED`,
/// because the JDK has no public way to choose the scheduler of a virtual thread.
public final class SeededThreads implements Threads, AutoCloseable {

  private final Random random;
  private final List<Runnable> ready = new ArrayList<>();
  private final Threads system = new SystemThreads();
  private final Thread carrier;
  private boolean busy;
  private boolean closed;

  public SeededThreads(long seed) {
    this.random = new Random(seed);
    this.carrier = system.startPlatform("seeded-carrier-" + seed, this::run);
  }

  private void run() {
    while (true) {
      Runnable next;
      synchronized (this) {
        busy = false;
        notifyAll();
        while (ready.isEmpty()) {
          if (closed) {
            return;
          }
          try {
            wait();
          } catch (InterruptedException e) {
            return;
          }
        }
        next = ready.remove(random.nextInt(ready.size()));
        busy = true;
      }
      next.run();
    }
  }

  private synchronized void schedule(Runnable continuation) {
    ready.add(continuation);
    notifyAll();
  }

  /// Waits until no thread can run: each has ended or waits.
  public synchronized void awaitIdle() throws InterruptedException {
    while (busy || !ready.isEmpty()) {
      wait();
    }
  }

  @Override
  public Thread unstarted(String name, Runnable work) {
    return builder().name(name).unstarted(work);
  }

  @Override
  public ThreadFactory factory(String prefix) {
    return builder().name(prefix, 0).factory();
  }

  @Override
  public ThreadFactory platformFactory(String name) {
    return system.platformFactory(name);
  }

  private Thread.Builder.OfVirtual builder() {
    try {
      var constructor =
          Class.forName("java.lang.ThreadBuilders$VirtualThreadBuilder")
              .getDeclaredConstructor(Executor.class);
      constructor.setAccessible(true);
      return (Thread.Builder.OfVirtual) constructor.newInstance((Executor) this::schedule);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException("this JDK has no scheduler for virtual threads", e);
    }
  }

  /// Ends the carrier once no thread can run.
  @Override
  public void close() {
    synchronized (this) {
      closed = true;
      notifyAll();
    }
    try {
      carrier.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
