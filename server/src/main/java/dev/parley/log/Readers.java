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
import org.jspecify.annotations.Nullable;

/// A few platform threads that read the store for everybody else.
///
/// A call into SQLite freezes the carrier of a virtual thread, so virtual threads wait here instead. No
/// statement stays open beyond one call.
final class Readers implements AutoCloseable {

  private static final Logger LOG = System.getLogger(Readers.class.getName());
  private static final int THREADS = 2;

  private final Database database;
  private final ExecutorService threads =
      Executors.newFixedThreadPool(
          THREADS, Thread.ofPlatform().daemon().name("parley-log-reader-", 1).factory());
  private final ReaderGate gate = new ReaderGate();
  private final ArrayBlockingQueue<Connection> idle = new ArrayBlockingQueue<>(THREADS);

  /// A question to the store.
  interface Query<T> {
    T ask(Connection connection) throws SQLException;
  }

  Readers(Database database) {
    this.database = database;
  }

  /// Lets the writer hold queries back for a moment.
  ReaderGate gate() {
    return gate;
  }

  /// Asks on one of the threads and waits for the answer, even when interrupted.
  ///
  /// @throws Rejection.Unavailable if the store cannot be read
  <T> T ask(Query<T> query) {
    var answer = threads.submit(() -> askInTurn(query));
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

  private static RuntimeException rethrown(ExecutionException failed, Future<?> answer) {
    return switch (failed.getCause()) {
      case SQLException unreadable ->
          new Rejection.Unavailable("the store cannot be read: " + unreadable.getMessage());
      case RuntimeException bug -> bug;
      case null, default -> new IllegalStateException("reading failed: " + answer, failed);
    };
  }

  @Override
  public void close() {
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
