package dev.parley.control;

import dev.parley.protocol.Rejection;
import dev.parley.runtime.Threads;
import java.lang.System.Logger.Level;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;

/// The documents in a table of SQLite or PostgreSQL.
///
/// A single platform thread does all reads and writes, because a virtual thread that waits for the
/// disk would block its carrier thread. It starts when it is needed for the first time.
public final class ControlTable implements ControlStorage {

  private static final System.Logger LOG = System.getLogger(ControlTable.class.getName());
  private static final String PUT =
      """
      INSERT INTO controls (kind, id, data) VALUES (?, ?, ?)
        ON CONFLICT (kind, id) DO UPDATE SET data = excluded.data
      """;

  private final ControlDatabase database;
  private final ExecutorService thread;
  // For the thread. Null before the first use and after a failure.
  private @Nullable Connection connection;

  private interface TableWork<T> {
    T run(Connection connection) throws SQLException;
  }

  public ControlTable(ControlDatabase database, Threads threads) {
    this.database = database;
    this.thread = Executors.newSingleThreadExecutor(threads.platformFactory("parley-controls"));
  }

  @Override
  public Map<String, String> load(String kind) {
    if (!database.exists()) {
      return Map.of();
    }
    return call(
        open -> {
          try (var statement =
              open.prepareStatement("SELECT id, data FROM controls WHERE kind = ? ORDER BY id")) {
            statement.setString(1, kind);
            try (var rows = statement.executeQuery()) {
              var found = new LinkedHashMap<String, String>();
              while (rows.next()) {
                found.put(rows.getString(1), rows.getString(2));
              }
              return found;
            }
          }
        });
  }

  @Override
  public Optional<String> find(String kind, String id) {
    if (!database.exists()) {
      return Optional.empty();
    }
    return call(
        open -> {
          try (var statement =
              open.prepareStatement("SELECT data FROM controls WHERE kind = ? AND id = ?")) {
            statement.setString(1, kind);
            statement.setString(2, id);
            try (var rows = statement.executeQuery()) {
              return rows.next() ? Optional.of(rows.getString(1)) : Optional.empty();
            }
          }
        });
  }

  @Override
  public void write(List<ControlChange> changes) {
    if (changes.isEmpty()) {
      return;
    }
    call(
        open -> {
          open.setAutoCommit(false);
          if (!holds(open, database.writable())) {
            open.rollback();
            open.setAutoCommit(true);
            throw new Rejection.Unavailable("this server is not the active one any more");
          }
          for (var change : changes) {
            write(open, change);
          }
          open.commit();
          open.setAutoCommit(true);
          return true;
        });
  }

  private static boolean holds(Connection open, String condition) throws SQLException {
    try (var statement = open.createStatement();
        var rows = statement.executeQuery("SELECT " + condition)) {
      return rows.next() && rows.getBoolean(1);
    }
  }

  private static void write(Connection open, ControlChange change) throws SQLException {
    var remove = change.data() == null;
    try (var statement =
        open.prepareStatement(remove ? "DELETE FROM controls WHERE kind = ? AND id = ?" : PUT)) {
      statement.setString(1, change.kind());
      statement.setString(2, change.id());
      if (!remove) {
        statement.setString(3, change.data());
      }
      statement.executeUpdate();
    }
  }

  /// Runs this on the table's thread and waits for the result. An interrupt does not cancel it.
  private <T> T call(TableWork<T> work) {
    try {
      return CompletableFuture.supplyAsync(() -> attempt(work), thread).join();
    } catch (RejectedExecutionException closed) {
      throw new Rejection.Unavailable(database + " is not available: the server is stopping");
    } catch (CompletionException failed) {
      throw failed.getCause() instanceof Rejection refused ? refused : failed;
    }
  }

  private <T> T attempt(TableWork<T> work) {
    try {
      var open = connection;
      if (open == null) {
        open = database.connect();
        connection = open;
      }
      return work.run(open);
    } catch (SQLException failed) {
      // Also ends a transaction that has begun.
      disconnect();
      throw new Rejection.Unavailable(
          "pauses, approval rules and budgets in "
              + database
              + " cannot be used: "
              + failed.getMessage());
    }
  }

  @Override
  public void close() {
    thread.close();
    disconnect();
  }

  private void disconnect() {
    var open = connection;
    connection = null;
    if (open != null) {
      try {
        open.close();
      } catch (SQLException failed) {
        LOG.log(Level.WARNING, "closing {0} failed: {1}", database, failed.getMessage());
      }
    }
  }
}
