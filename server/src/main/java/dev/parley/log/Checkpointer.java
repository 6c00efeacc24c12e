package dev.parley.log;

import dev.parley.log.BlockStore.CopyResult;
import dev.parley.runtime.Threads;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/// A thread that copies the journal of the store while the writer continues.
///
/// It cannot fully catch up with a busy writer. The writer itself copies the few pages that are
/// left and restarts the journal.
final class Checkpointer implements AutoCloseable {

  private final BlockStore store;
  private final Runnable whenDone;
  private final Semaphore requests = new Semaphore(0);
  private final AtomicReference<@Nullable CopyResult> result = new AtomicReference<>();
  private final Thread thread;

  /// Calls `whenDone` on the checkpointer thread after each request.
  Checkpointer(BlockStore store, Runnable whenDone, Threads threads, FatalHandler fatal) {
    this.store = store;
    this.whenDone = whenDone;
    this.thread = CriticalThread.start(threads, "parley-log-checkpointer", this::run, fatal);
  }

  void request() {
    requests.release();
  }

  /// The result of the last request, or null if it was already taken.
  @Nullable CopyResult takeResult() {
    return result.getAndSet(null);
  }

  private void run() throws InterruptedException {
    while (true) {
      requests.acquire();
      requests.drainPermits();
      result.set(store.copyJournal());
      whenDone.run();
    }
  }

  @Override
  public void close() {
    thread.interrupt();
    CriticalThread.join(thread);
  }
}
