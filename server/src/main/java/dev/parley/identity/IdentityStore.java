package dev.parley.identity;

import dev.parley.protocol.Json;
import dev.parley.protocol.Rejection;
import dev.parley.runtime.Threads;
import java.lang.System.Logger.Level;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// Stores keys, people and shared contexts as JSON in one table.
///
/// For many threads. A single platform thread makes all changes, one after the other, so that a check
/// and the write that depends on it cannot be separated.
final class IdentityStore implements AutoCloseable {

  private static final System.Logger LOG = System.getLogger(IdentityStore.class.getName());

  /// What a record is.
  enum RecordKind {
    KEY,
    PERSON,
    GROUP,
    TENANT,
    INVITATION,
    SESSION,
    SHARE,
    SUBJECT;

    String text() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  private final IdentityDatabase database;
  private final ExecutorService thread;
  // For the thread. Null before the first use, and after a failure.
  private @Nullable Connection connection;

  IdentityStore(IdentityDatabase database, Threads threads) {
    this.database = database;
    this.thread = Executors.newSingleThreadExecutor(threads.platformFactory("parley-identities"));
  }

  /// All records of a kind. Creates no database.
  <T> List<T> readAll(RecordKind kind, Class<T> type) {
    if (!database.exists()) {
      return List.of();
    }
    return change(
        () -> {
          try (var statement = prepare("SELECT data FROM identities WHERE kind = ?", kind.text());
              var rows = statement.executeQuery()) {
            var found = new ArrayList<T>();
            while (rows.next()) {
              found.add(Json.read(rows.getString(1).getBytes(StandardCharsets.UTF_8), type));
            }
            return found;
          } catch (SQLException failed) {
            disconnect();
            throw new Rejection.Unavailable(
                "the identities in " + database + " cannot be read: " + failed.getMessage());
          }
        });
  }

  /// Runs this on the thread of the store and returns the result. Changes wait for each other.
  <T> T change(Supplier<T> work) {
    try {
      return CompletableFuture.supplyAsync(work, thread).join();
    } catch (RejectedExecutionException closed) {
      throw new Rejection.Unavailable("identities are not available: the server is stopping");
    } catch (CompletionException failed) {
      throw failed.getCause() instanceof Rejection refused ? refused : failed;
    }
  }

  /// Runs this on the thread of the store later. A failure is logged.
  void changeLater(Runnable work) {
    try {
      thread.execute(
          () -> {
            try {
              work.run();
            } catch (Rejection failed) {
              LOG.log(Level.WARNING, "identities were not stored: {0}", failed.getMessage());
            }
          });
    } catch (RejectedExecutionException closed) {
      LOG.log(Level.DEBUG, "the server is stopping");
    }
  }

  /// Stores a record. Only for the thread of the store.
  void put(RecordKind kind, String id, Object data) {
    update(
        "INSERT INTO identities (kind, id, data) SELECT ?, ?, ? WHERE "
            + database.writable()
            + " ON CONFLICT (kind, id) DO UPDATE SET data = excluded.data",
        kind.text(),
        id,
        new String(Json.bytes(data), StandardCharsets.UTF_8));
  }

  /// Removes a record, which exists. Only for the thread of the store.
  void remove(RecordKind kind, String id) {
    update(
        "DELETE FROM identities WHERE kind = ? AND id = ? AND " + database.writable(),
        kind.text(),
        id);
  }

  private void update(String sql, Object... values) {
    try (var statement = prepare(sql, values)) {
      if (statement.executeUpdate() == 0) {
        throw new Rejection.Unavailable("this server is not the active one any more");
      }
    } catch (SQLException failed) {
      disconnect();
      throw new Rejection.Unavailable(
          "identities cannot be stored in " + database + ": " + failed.getMessage());
    }
  }

  private PreparedStatement prepare(String sql, Object... values) throws SQLException {
    var open = connection;
    if (open == null) {
      open = database.connect();
      connection = open;
    }
    var statement = open.prepareStatement(sql);
    for (var i = 0; i < values.length; i++) {
      statement.setObject(i + 1, values[i]);
    }
    return statement;
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
