package dev.parley.log;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.sql.SQLException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/// A thread that copies the write-ahead log into the database while the writer continues.
///
/// It cannot fully catch up with a busy writer. The writer itself copies the few pages that are
/// left and restarts the write-ahead log.
final class Checkpointer implements AutoCloseable {

  private static final Logger LOG = System.getLogger(Checkpointer.class.getName());

  private final LogDatabase logDatabase;
  private final Runnable whenDone;
  private final Semaphore requests = new Semaphore(0);
  private final AtomicReference<@Nullable CheckpointResult> result = new AtomicReference<>();
  private final Thread thread;

  /// The result of a request: whether the copy succeeded, and how many pages are left.
  record CheckpointResult(boolean succeeded, long pagesLeft) {}

  /// Calls `whenDone` on the checkpointer thread after each request.
  Checkpointer(LogDatabase logDatabase, Runnable whenDone, FatalHandler fatal) {
    this.logDatabase = logDatabase;
    this.whenDone = whenDone;
    this.thread = CriticalThread.start("parley-log-checkpointer", this::run, fatal);
  }

  void request() {
    requests.release();
  }

  /// The result of the last request, or null if it was already taken.
  @Nullable CheckpointResult takeResult() {
    return result.getAndSet(null);
  }

  private void run() throws InterruptedException {
    while (true) {
      requests.acquire();
      requests.drainPermits();
      result.set(checkpoint());
      whenDone.run();
    }
  }

  private CheckpointResult checkpoint() {
    try (var connection = logDatabase.openReader()) {
      LogDatabase.execute(connection, "PRAGMA query_only = OFF");
      try (var statement = connection.createStatement();
          var rows = statement.executeQuery("PRAGMA wal_checkpoint(PASSIVE)")) {
        return rows.next() && rows.getLong(1) == 0
            ? new CheckpointResult(true, rows.getLong(2) - rows.getLong(3))
            : new CheckpointResult(false, 0);
      }
    } catch (SQLException putOff) {
      LOG.log(Level.DEBUG, "checkpoint postponed: {0}", putOff.getMessage());
      return new CheckpointResult(false, 0);
    }
  }

  @Override
  public void close() {
    thread.interrupt();
    ThreadJoiner.join(thread);
  }
}
