package dev.parley.log;

import dev.parley.runtime.Threads;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;

/// Wakes everything that waits for a context, without delaying the writer.
///
/// A few waiters are woken directly. Many are woken by a separate thread; while it is busy, further
/// changes of the same context become one wake-up.
final class Waker implements AutoCloseable {

  private static final int AT_ONCE_MAX = 16;

  private final Set<CachedContext> queued = ConcurrentHashMap.newKeySet();
  private final LinkedBlockingQueue<CachedContext> queue = new LinkedBlockingQueue<>();
  private final Thread thread;

  Waker(Threads threads, FatalHandler fatal) {
    thread = CriticalThread.start(threads, "parley-log-waker", this::run, fatal);
  }

  void wake(CachedContext context) {
    if (context.waiters.size() <= AT_ONCE_MAX) {
      context.waiters.forEach(Waiter::wake);
    } else if (queued.add(context)) {
      queue.add(context);
    }
  }

  private void run() throws InterruptedException {
    while (true) {
      var context = queue.take();
      queued.remove(context);
      context.waiters.forEach(Waiter::wake);
    }
  }

  @Override
  public void close() {
    thread.interrupt();
  }
}
