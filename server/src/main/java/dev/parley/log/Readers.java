package dev.parley.log;

import dev.parley.protocol.Rejection;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;

/// A few platform threads that read the store for all callers.
///
/// A call into SQLite blocks the carrier of a virtual thread, so virtual threads wait here instead.
/// No statement stays open beyond one call. Short look-ups, which appends wait for, have their own
/// threads, so they never queue behind pages of older entries.
final class Readers implements AutoCloseable {

  private static final Logger LOG = System.getLogger(Readers.class.getName());
  private static final int PAGE_THREADS = 2;
  private static final int LOOKUP_THREADS = 2;

  private final Database database;
  private final Fault fault;
  private final ReaderGate gate = new ReaderGate();
  private final ReaderPool pages = new ReaderPool("parley-log-reader-", PAGE_THREADS);
  private final ReaderPool lookups = new ReaderPool("parley-log-lookup-", LOOKUP_THREADS);

  /// A query of the store.
  interface Query<T> {
    T ask(Connection connection) throws SQLException;
  }

  Readers(Database database, Fault fault) {
    this.database = database;
    this.fault = fault;
  }

  /// The gate by which the writer holds back queries.
  ReaderGate gate() {
    return gate;
  }

  /// Reads a page of older entries and waits for it, even when interrupted.
  ///
  /// @throws Rejection.Unavailable if the store cannot be read
  <T> T readPage(Query<T> query) {
    return pages.ask(
        connection -> {
          fault.beforePage();
          return query.ask(connection);
        });
  }

  /// Looks up a few rows and waits for them, even when interrupted. Does not wait for pages.
  ///
  /// @throws Rejection.Unavailable if the store cannot be read
  <T> T lookUp(Query<T> query) {
    return lookups.ask(query);
  }

  @Override
  public void close() {
    pages.close();
    lookups.close();
  }

  /// Threads that run queries from one queue, each with its own connection.
  private final class ReaderPool {
    private final ExecutorService threads;
    private final ArrayBlockingQueue<Connection> idle;

    ReaderPool(String name, int count) {
      threads =
          Executors.newFixedThreadPool(count, Thread.ofPlatform().daemon().name(name, 1).factory());
      idle = new ArrayBlockingQueue<>(count);
    }

    <T> T ask(Query<T> query) {
      var answer = submit(query);
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

    private <T> Future<T> submit(Query<T> query) {
      try {
        return threads.submit(() -> askInTurn(query));
      } catch (RejectedExecutionException closed) {
        throw new Rejection.Unavailable("the log is closed");
      }
    }

    private <T> T askInTurn(Query<T> query) throws SQLException {
      gate.enter();
      try {
        return askHere(query);
      } finally {
        gate.leave();
      }
    }

    private <T> T askHere(Query<T> query) throws SQLException {
      var connection = idle.poll();
      if (connection == null) {
        connection = database.openReader();
      }
      var healthy = false;
      try {
        var answer = query.ask(connection);
        healthy = true;
        return answer;
      } finally {
        if (!healthy || !idle.offer(connection)) {
          connection.close();
        }
      }
    }

    void close() {
      threads.close();
      @Nullable Connection connection;
      while ((connection = idle.poll()) != null) {
        try {
          connection.close();
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
