package dev.parley.view;

import dev.parley.log.FatalHandler;
import dev.parley.log.Outage;
import dev.parley.protocol.Rejection;
import dev.parley.view.Checkpoints.Checkpoint;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;
import org.sqlite.SQLiteErrorCode;

/// The platform thread on which the views' database is used, since native calls freeze virtual ones.
///
/// Callers wait for their work to be done, so there is at most one piece of work per caller. All
/// fields but the executor belong to the thread.
final class ViewThread implements AutoCloseable {

  private static final Logger LOGGER = System.getLogger(ViewThread.class.getName());

  /// Does something with the tables, in one transaction.
  interface Work<T> {
    T run(Tables tables) throws SQLException;
  }

  private final @Nullable Path file;
  private final @Nullable Checkpoint start;
  private final ExecutorService executor;
  private final Outage outage =
      new Outage(LOGGER, "the views cannot be written or read", "the views follow the log again");
  private @Nullable Tables tables;
  private long generation;

  private ViewThread(@Nullable Path file, @Nullable Checkpoint start, FatalHandler fatal) {
    this.file = file;
    this.start = start;
    // What work throws is passed to its caller; what arrives here is the thread's own.
    this.executor =
        Executors.newSingleThreadExecutor(
            Thread.ofPlatform()
                .name("views")
                .daemon()
                .uncaughtExceptionHandler((thread, bug) -> fatal.failed(thread.getName(), bug))
                .factory());
  }

  /// Works on the views in `file`.
  static ViewThread on(Path file, FatalHandler fatal) {
    return new ViewThread(file, null, fatal);
  }

  /// Works on views that start empty and end with this thread.
  static ViewThread inMemory() {
    return new ViewThread(null, null, FatalHandler.NONE);
  }

  /// Works on a copy of views as they were.
  static ViewThread from(Checkpoint start) {
    return new ViewThread(null, start, FatalHandler.NONE);
  }

  /// All of the database, to go on from later.
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

  /// Does `work` and waits for it.
  ///
  /// @throws Rejection what `work` refused with; `Unavailable` if the database fails
  <T> T call(Work<T> work) {
    return await(() -> transact(work));
  }

  /// Notes that the views have taken in all that is new.
  void works() {
    outage.over();
  }

  /// How often the views were thrown away; to be called from work only.
  long generation() {
    return generation;
  }

  /// Throws all views away.
  void startOver() {
    await(
        () -> {
          throwAway();
          return true;
        });
  }

  /// Makes sure that what was deleted is on the disk no more.
  void scrub() {
    await(
        () -> {
          try {
            tables().sql().alone("PRAGMA wal_checkpoint(TRUNCATE)");
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
      // Closed before.
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
      throw new Rejection.Unavailable("interrupted while asking the views");
    } catch (RejectedExecutionException _) {
      throw new Rejection.Unavailable("the views are closed");
    }
  }

  private <T> T transact(Work<T> work) {
    var done = false;
    try {
      var opened = tables();
      var result = work.run(opened);
      opened.sql().commit();
      done = true;
      return result;
    } catch (SQLException failure) {
      throw unavailable(failure);
    } finally {
      if (!done) {
        rollback();
      }
    }
  }

  private Tables tables() throws SQLException {
    var opened = tables;
    if (opened == null) {
      opened = Tables.of(file == null ? ViewSchema.inMemory(start) : ViewSchema.open(file));
      tables = opened;
    }
    return opened;
  }

  private void rollback() {
    if (tables != null) {
      try {
        tables.sql().rollback();
      } catch (SQLException _) {
        // A connection that cannot even do this is of no use.
        closeTables();
      }
    }
  }

  private Rejection unavailable(SQLException failure) {
    if (file == null && failure.getErrorCode() == SQLiteErrorCode.SQLITE_FULL.code) {
      return new Rejection.TooLarge(
          "context-too-large", "the context is too large for a snapshot at an earlier position");
    }
    if (ViewSchema.broken(failure)) {
      LOGGER.log(Level.WARNING, "the views are broken and are made anew: {0}", failure.toString());
      throwAway();
    } else {
      outage.failed(failure.toString());
    }
    return new Rejection.Unavailable("the views cannot answer just now");
  }

  private void throwAway() {
    closeTables();
    if (file != null) {
      ViewSchema.delete(file);
    }
    generation++;
  }

  private void closeTables() {
    if (tables != null) {
      try {
        tables.sql().close();
      } catch (SQLException failure) {
        LOGGER.log(Level.WARNING, "the views did not close well: {0}", failure.toString());
      }
      tables = null;
    }
  }
}
