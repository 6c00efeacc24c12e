package dev.parley.projection;

import dev.parley.log.OutageLogger;
import dev.parley.projection.CheckpointCache.Checkpoint;
import dev.parley.protocol.Rejection;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.sqlite.SQLiteErrorCode;

/// The platform thread that uses the database of the views. Native calls would block the carriers
/// of virtual threads.
///
/// Callers wait for their work, so there is at most one piece of work per caller. Only this thread
/// uses the fields, except for the executor.
final class ViewThread implements AutoCloseable {

  private static final Logger LOGGER = System.getLogger(ViewThread.class.getName());

  /// Works on the tables in one transaction.
  interface TableWork<T> {
    T run(ViewTables viewTables) throws SQLException;
  }

  private final Source source;
  private final ThreadPoolExecutor executor;
  private final OutageLogger outageLogger;
  private @Nullable ViewTables viewTables;
  private long generation;

  /// The file of the views; in memory if it is null. `start` is the begin of a snapshot. Views that
  /// are `complete` may use all memory, snapshots only some.
  private record Source(@Nullable Path file, @Nullable Checkpoint start, boolean complete) {

    SqlSession open() throws SQLException {
      if (file != null) {
        return ViewSchema.open(file);
      }
      return complete ? ViewSchema.inMemory() : ViewSchema.snapshot(start);
    }
  }

  private ViewThread(Source source, ViewsRuntime runtime) {
    this.source = source;
    this.outageLogger =
        new OutageLogger(
            LOGGER,
            "the views cannot be written or read",
            "the views follow the log again",
            runtime.time());
    // Callers get the exceptions of their work. An exception here is a failure of the thread
    // itself.
    this.executor =
        new ThreadPoolExecutor(
            1,
            1,
            0,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(),
            work -> {
              var thread = runtime.threads().platformFactory("views").newThread(work);
              thread.setUncaughtExceptionHandler((_, bug) -> runtime.fatal().failed("views", bug));
              return thread;
            });
  }

  /// Opens the views in `storage`.
  static ViewThread of(ViewStorage storage, ViewsRuntime runtime) {
    if (storage.inMemory()) {
      storage.deleteUnused();
      return new ViewThread(new Source(null, null, true), runtime);
    }
    return new ViewThread(new Source(storage.file(), null, false), runtime);
  }

  /// Opens the views in `file`.
  static ViewThread forFile(Path file, ViewsRuntime runtime) {
    return of(ViewStorage.in(file), runtime);
  }

  /// Opens empty views in memory for a snapshot, which are discarded when the thread is closed.
  static ViewThread inMemory(ViewsRuntime runtime) {
    return new ViewThread(new Source(null, null, false), runtime);
  }

  /// Opens a copy of a checkpoint in memory.
  static ViewThread from(Checkpoint start, ViewsRuntime runtime) {
    return new ViewThread(new Source(null, start, false), runtime);
  }

  /// Returns the whole database, for a checkpoint.
  byte[] image() {
    return await(
        () -> {
          try {
            return tables().sql().image();
          } catch (SQLException failure) {
            throw unavailable(failure);
          }
        });
  }

  /// Runs `work` and waits for its result.
  ///
  /// @throws Rejection if `work` throws it, or `Unavailable` if the database fails
  <T> T call(TableWork<T> tableWork) {
    return await(() -> transact(tableWork, true));
  }

  /// Does the same as [#call], but undoes all changes afterwards. This needs no space on the disk.
  /// The changes are in memory; see `UNSAVED_PAGES_MAX` in [ViewSchema].
  <T> T callWithoutSaving(TableWork<T> tableWork) {
    return await(() -> transact(tableWork, false));
  }

  /// Returns true if a caller waits for this thread. Long work uses it to end early.
  boolean hasWaitingWork() {
    return !executor.getQueue().isEmpty();
  }

  /// Reports that the views are up to date, which ends an outage.
  void markHealthy() {
    outageLogger.recovered();
  }

  /// Returns how often the views were discarded. Call it only from work.
  long generation() {
    return generation;
  }

  /// Discards all views.
  void reset() {
    await(
        () -> {
          discardTables();
          return true;
        });
  }

  /// Makes sure that deleted data is no longer on the disk.
  void eraseDeleted() {
    await(
        () -> {
          try {
            tables().sql().executeOutsideTransaction("PRAGMA wal_checkpoint(TRUNCATE)");
          } catch (SQLException failure) {
            throw unavailable(failure);
          }
          return true;
        });
  }

  @Override
  public void close() {
    try {
      executor.execute(this::closeTables);
    } catch (RejectedExecutionException _) {
      // It was closed before.
    }
    executor.close();
  }

  private <T> T await(Callable<T> work) {
    try {
      return executor.submit(work).get();
    } catch (ExecutionException failed) {
      switch (failed.getCause()) {
        case RuntimeException failure -> throw failure;
        case Error failure -> throw failure;
        case null, default -> throw new IllegalStateException(failed);
      }
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
      throw new Rejection.Unavailable("interrupted while querying the views");
    } catch (RejectedExecutionException _) {
      throw new Rejection.Unavailable("the views are closed");
    }
  }

  private <T> T transact(TableWork<T> tableWork, boolean save) {
    var saved = false;
    try {
      var opened = tables();
      var result = tableWork.run(opened);
      if (save) {
        opened.sql().commit();
        saved = true;
      }
      return result;
    } catch (SQLException failure) {
      throw unavailable(failure);
    } finally {
      if (!saved) {
        rollback();
      }
    }
  }

  private ViewTables tables() throws SQLException {
    var opened = viewTables;
    if (opened == null) {
      opened = ViewTables.of(source.open());
      viewTables = opened;
    }
    return opened;
  }

  private void rollback() {
    if (viewTables != null) {
      try {
        viewTables.sql().rollback();
      } catch (SQLException _) {
        // A connection that cannot roll back is unusable.
        closeTables();
      }
    }
  }

  private Rejection unavailable(SQLException failure) {
    if (source.file() == null && failure.getErrorCode() == SQLiteErrorCode.SQLITE_FULL.code) {
      return new Rejection.TooLarge(
          "context-too-large", "the context is too large for a snapshot at an earlier position");
    }
    if (ViewSchema.broken(failure)) {
      LOGGER.log(Level.WARNING, "the views are corrupt and are rebuilt: {0}", failure.toString());
      discardTables();
    } else {
      outageLogger.failed(failure.toString());
    }
    return new Rejection.Unavailable("the views are temporarily unavailable");
  }

  private void discardTables() {
    closeTables();
    if (source.file() != null) {
      ViewSchema.delete(source.file());
    }
    generation++;
  }

  private void closeTables() {
    if (viewTables != null) {
      try {
        viewTables.sql().close();
      } catch (SQLException failure) {
        LOGGER.log(Level.WARNING, "cannot close the views: {0}", failure.toString());
      }
      viewTables = null;
    }
  }
}
