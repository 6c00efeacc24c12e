package dev.parley.log;

import dev.parley.log.BlockStore.StoreReader;
import dev.parley.protocol.Rejection;
import dev.parley.runtime.Threads;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.sql.SQLException;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadFactory;
import org.jspecify.annotations.Nullable;

/// A few platform threads that read the store for all callers.
///
/// A call into SQLite blocks the carrier of a virtual thread, so virtual threads wait here instead.
/// No statement stays open beyond one call. Short look-ups, which appends wait for, have their own
/// threads, so they never queue behind pages of older entries.
final class ReaderThreads implements AutoCloseable {

  private static final Logger LOG = System.getLogger(ReaderThreads.class.getName());
  private static final int PAGE_THREADS = 2;
  private static final int LOOKUP_THREADS = 2;

  private final ReaderSource source;
  private final ReaderGate gate = new ReaderGate();
  private final ReaderPool pages;
  private final ReaderPool lookups;

  /// A query of the store.
  interface StoreQuery<T> {
    T run(StoreReader reader) throws SQLException;
  }

  /// Opens a reader for a thread.
  interface ReaderSource {
    StoreReader open() throws SQLException;
  }

  ReaderThreads(ReaderSource source, Threads threads) {
    this.source = source;
    this.pages = new ReaderPool(threads.platformFactory("parley-log-reader"), PAGE_THREADS);
    this.lookups = new ReaderPool(threads.platformFactory("parley-log-lookup"), LOOKUP_THREADS);
  }

  /// The gate by which the writer holds back queries.
  ReaderGate gate() {
    return gate;
  }

  /// Reads a page of older entries and waits for it, even when interrupted.
  ///
  /// @throws Rejection.Unavailable if the store cannot be read
  <T> T readPage(StoreQuery<T> storeQuery) {
    return pages.query(storeQuery);
  }

  /// Looks up a few rows and waits for them, even when interrupted. Does not wait for pages.
  ///
  /// @throws Rejection.Unavailable if the store cannot be read
  <T> T lookUp(StoreQuery<T> storeQuery) {
    return lookups.query(storeQuery);
  }

  @Override
  public void close() {
    pages.close();
    lookups.close();
  }

  /// Threads that run queries from one queue, each with its own reader.
  private final class ReaderPool {
    private final ExecutorService threads;
    private final ArrayBlockingQueue<StoreReader> idle;

    ReaderPool(ThreadFactory factory, int count) {
      threads = Executors.newFixedThreadPool(count, factory);
      idle = new ArrayBlockingQueue<>(count);
    }

    <T> T query(StoreQuery<T> storeQuery) {
      var answer = submit(storeQuery);
      var interrupted = false;
      try {
        while (true) {
          try {
            return answer.get();
          } catch (InterruptedException later) {
            interrupted = true;
          } catch (ExecutionException failed) {
            throw rethrown(failed, answer);
          }
        }
      } finally {
        if (interrupted) {
          Thread.currentThread().interrupt();
        }
      }
    }

    private <T> Future<T> submit(StoreQuery<T> storeQuery) {
      try {
        return threads.submit(() -> queryThroughGate(storeQuery));
      } catch (RejectedExecutionException closed) {
        throw new Rejection.Unavailable("the log is closed");
      }
    }

    private <T> T queryThroughGate(StoreQuery<T> storeQuery) throws SQLException {
      gate.enter();
      try {
        return queryStore(storeQuery);
      } finally {
        gate.leave();
      }
    }

    /// A reader that was idle may have lost its connection to the database, so a query that fails
    /// with one is repeated with a new one. Queries change nothing.
    private <T> T queryStore(StoreQuery<T> storeQuery) throws SQLException {
      var reader = idle.poll();
      if (reader != null) {
        try {
          return queryWith(reader, storeQuery);
        } catch (SQLException stale) {
          LOG.log(Level.DEBUG, "a query is repeated: {0}", stale.getMessage());
        }
      }
      return queryWith(source.open(), storeQuery);
    }

    private <T> T queryWith(StoreReader reader, StoreQuery<T> storeQuery) throws SQLException {
      var healthy = false;
      try {
        var answer = storeQuery.run(reader);
        healthy = true;
        return answer;
      } finally {
        if (!healthy || !idle.offer(reader)) {
          reader.close();
        }
      }
    }

    void close() {
      threads.close();
      @Nullable StoreReader reader;
      while ((reader = idle.poll()) != null) {
        try {
          reader.close();
        } catch (SQLException useless) {
          LOG.log(Level.DEBUG, "closing a reader: {0}", useless.getMessage());
        }
      }
    }
  }

  private static RuntimeException rethrown(ExecutionException failed, Future<?> answer) {
    return switch (failed.getCause()) {
      case SQLException unreadable ->
          new Rejection.Unavailable("the store cannot be read: " + unreadable.getMessage());
      case RuntimeException bug -> bug;
      case null, default -> new IllegalStateException("a query failed: " + answer, failed);
    };
  }
}
