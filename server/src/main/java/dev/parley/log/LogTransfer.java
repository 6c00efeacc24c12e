package dev.parley.log;

import dev.parley.protocol.Rejection;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Collections;
import java.util.List;
import java.util.function.LongConsumer;

/// Copies a whole log between a data folder and a PostgreSQL database. Both stores have the same
/// tables, so the copy has the same numbers, ids and positions.
///
/// Only the log is copied, not credentials and webhooks, which are encrypted with other keys. Views
/// are rebuilt by the next start.
public final class LogTransfer {

  /// Rows of one batch.
  private static final int BATCH_ROWS = 256;

  /// How many rows with entries or states are in memory at once: one may have some megabytes.
  private static final int LARGE_ROWS = 16;

  /// No server can start before the end of the transaction.
  private static final String LOCK = "LOCK TABLE nodes IN SHARE ROW EXCLUSIVE MODE";

  /// A paused terminal must not end a copy of hours.
  private static final String NO_IDLE_LIMIT = "SET LOCAL idle_in_transaction_session_timeout = 0";

  /// Bytes of one batch.
  private static final long BATCH_BYTES = 4L << 20;

  /// The tables of a log, with their columns. Those that other rows refer to come first.
  private static final List<LogTable> TABLES =
      List.of(
          new LogTable(
              "contexts",
              List.of(
                  "number",
                  "id",
                  "owner",
                  "secret",
                  "sealed",
                  "state",
                  "open_tasks",
                  "touched",
                  "deleted",
                  "deleted_by",
                  "deleted_at",
                  "data_key"),
              "true"),
          new LogTable("wrapping_keys", List.of("id", "wrapped"), "true"),
          new LogTable("blocks", List.of("id", "data"), "true"),
          new LogTable("segments", List.of("context", "last", "data"), "true"),
          new LogTable(
              "keys", List.of("context", "principal", "key", "hash", "first", "last"), "true"),
          new LogTable("shares", List.of("context", "last", "source", "secret"), "true"),
          new LogTable("states", List.of("context", "last", "data"), "true"),
          new LogTable("artifact_heads", List.of("context", "artifact", "data"), "true"),
          // The other numbers mean free pages of a SQLite file.
          new LogTable("erasures", List.of("context"), "context > 0"));

  private LogTransfer() {}

  private record LogTable(String name, List<String> columns, String condition) {

    /// How many rows the database sends at once.
    int fetchRows() {
      return columns.contains("data") || columns.contains("state") ? LARGE_ROWS : BATCH_ROWS;
    }

    String select() {
      return "SELECT %s FROM %s WHERE %s".formatted(String.join(", ", columns), name, condition);
    }

    String insert() {
      return "INSERT INTO %s (%s) VALUES (%s)"
          .formatted(
              name,
              String.join(", ", columns),
              String.join(", ", Collections.nCopies(columns.size(), "?")));
    }
  }

  /// What was copied.
  public record Transferred(long contexts, long bytes) {}

  /// Copies the log of a data folder, which no server may use, into a database that has no log yet.
  /// Reports the bytes copied so far to `progress`.
  ///
  /// @throws Rejection if that is not possible; the database then has no log, but may have the empty
  ///     tables. The message says so if the outcome is unknown
  public static Transferred toDatabase(
      Path folder, PostgresDatabase database, LongConsumer progress) {
    if (!Files.isRegularFile(folder.resolve(SqliteStore.FILE))) {
      throw new Rejection.NotFound(
          "there is no data folder at " + folder + ": it has no " + SqliteStore.FILE);
    }
    try (var _ = DataFolder.claim(folder)) {
      database.migrate();
      try (var source = writable(folder);
          var target = database.connect()) {
        target.setAutoCommit(false);
        Jdbc.execute(target, NO_IDLE_LIMIT);
        Jdbc.execute(target, LOCK);
        checkUnused(target, database);
        // A server may have created one, although it has no context yet.
        Jdbc.execute(target, "DELETE FROM wrapping_keys");
        var transferred = copy(source, target, progress);
        commit(target, database);
        return transferred;
      }
    } catch (SQLException failed) {
      throw failed(failed);
    }
  }

  /// Commits the copy, however long a standby takes. If that fails, the copy may be there anyway.
  private static void commit(Connection target, PostgresDatabase database) throws SQLException {
    try {
      commitPatiently(target);
    } catch (SQLException inDoubt) {
      target.close();
      if (!hasCopy(database)) {
        throw inDoubt;
      }
    }
  }

  private static void commitPatiently(Connection connection) throws SQLException {
    connection.setNetworkTimeout(Runnable::run, 0);
    connection.clearWarnings();
    connection.commit();
    Jdbc.checkCommitted(connection.getWarnings());
  }

  /// Whether the copy was committed, and a standby has it.
  private static boolean hasCopy(PostgresDatabase database) {
    try (var connection = database.connect()) {
      connection.setAutoCommit(false);
      Jdbc.execute(connection, NO_IDLE_LIMIT);
      // Waits for the end of the first transaction.
      Jdbc.execute(connection, LOCK);
      var copied = Jdbc.number(connection, "SELECT count(*) FROM contexts") > 0;
      // A commit returns only when a standby has all earlier ones, too.
      Jdbc.execute(connection, "UPDATE cluster SET name = name");
      commitPatiently(connection);
      return copied;
    } catch (SQLException unreachable) {
      throw new Rejection.Unavailable(
          "it is not known whether the log was copied (%s); if it was, a new attempt says that the"
                  .formatted(unreachable.getMessage())
              + " database contains a log");
    }
  }

  /// Opens the file as a server does, so that its schema is current.
  private static Connection writable(Path folder) throws SQLException {
    return new LogDatabase(folder.resolve(SqliteStore.FILE), LogTuning.DEFAULT.walBytes())
        .openWriter();
  }

  /// @throws Rejection.Conflict if a server uses the database
  static void checkStopped(Connection target, PostgresDatabase database) throws SQLException {
    if (Jdbc.number(target, "SELECT count(*) FROM nodes WHERE state = 'active'") > 0) {
      throw new Rejection.Conflict(
          "database-in-use", "a server uses the database " + database + "; stop all servers first");
    }
  }

  /// Declares the active node dead, if it gave no sign of life lately: a restored database contains
  /// the node of a server that has long ended. Should that server live, it cannot write any more.
  ///
  /// @throws Rejection.Conflict if a server uses the database
  static void fenceSilentNode(Connection target, PostgresDatabase database) throws SQLException {
    Jdbc.execute(
        target,
        "UPDATE nodes SET state = 'dead', epoch = epoch + 1 WHERE state = 'active' AND NOT EXISTS"
            + " (SELECT 1 FROM beats WHERE node = id AND at > clock_timestamp() - INTERVAL '10"
            + " seconds')");
    checkStopped(target, database);
  }

  private static void checkUnused(Connection target, PostgresDatabase database)
      throws SQLException {
    checkStopped(target, database);
    if (Jdbc.number(target, "SELECT count(*) FROM contexts") > 0) {
      throw new Rejection.Conflict(
          "database-not-empty", "the database " + database + " contains a log; use an empty one");
    }
  }

  /// Copies the log of a database into a data folder, which must be empty or missing. Servers may use
  /// the database meanwhile: the copy has everything that was acknowledged before the start.
  ///
  /// @throws Rejection if that is not possible; an incomplete copy is removed
  public static Transferred toFolder(
      PostgresDatabase database, Path folder, LongConsumer progress) {
    checkEmpty(folder);
    var complete = false;
    try (var source = database.connect()) {
      PostgresDatabase.check(source);
      try (var _ = DataFolder.claim(folder);
          var target = writable(folder)) {
        source.setAutoCommit(false);
        Jdbc.execute(source, "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY");
        Jdbc.execute(source, NO_IDLE_LIMIT);
        var transferred = copy(source, target, progress);
        target.commit();
        complete = true;
        return transferred;
      }
    } catch (SQLException failed) {
      throw failed(failed);
    } finally {
      if (!complete) {
        removeLog(folder);
      }
    }
  }

  private static void checkEmpty(Path folder) {
    try {
      if (Files.isDirectory(folder)) {
        try (var entries = Files.list(folder)) {
          if (entries.findAny().isPresent()) {
            throw new Rejection.Invalid(folder + " is not empty; export into a new folder");
          }
        }
      }
    } catch (IOException unusable) {
      throw new Rejection.Unavailable(folder + " cannot be used: " + unusable.getMessage());
    }
  }

  private static void removeLog(Path folder) {
    for (var file : List.of("log.db", "log.db-wal", "log.db-shm", "parley.lock")) {
      try {
        Files.deleteIfExists(folder.resolve(file));
      } catch (IOException left) {
        throw new Rejection.Unavailable(
            "an incomplete copy is left in " + folder + ": " + left.getMessage());
      }
    }
  }

  private static Transferred copy(Connection source, Connection target, LongConsumer progress)
      throws SQLException {
    var bytes = 0L;
    for (var table : TABLES) {
      bytes = copy(table, source, target, bytes, progress);
    }
    return new Transferred(
        Jdbc.number(source, "SELECT count(*) FROM contexts WHERE deleted = 0"), bytes);
  }

  private static long copy(
      LogTable table, Connection source, Connection target, long before, LongConsumer progress)
      throws SQLException {
    var bytes = before;
    try (var select = source.prepareStatement(table.select());
        var insert = target.prepareStatement(table.insert())) {
      select.setFetchSize(table.fetchRows());
      try (var rows = select.executeQuery()) {
        var inBatch = 0;
        var batchFrom = bytes;
        while (rows.next()) {
          for (var column = 1; column <= table.columns().size(); column++) {
            var value = rows.getObject(column);
            insert.setObject(column, value);
            bytes += value instanceof byte[] data ? data.length : Long.BYTES;
          }
          insert.addBatch();
          inBatch++;
          if (inBatch == BATCH_ROWS || bytes - batchFrom >= BATCH_BYTES) {
            insert.executeBatch();
            inBatch = 0;
            batchFrom = bytes;
            progress.accept(bytes);
          }
        }
        insert.executeBatch();
      }
    }
    progress.accept(bytes);
    return bytes;
  }

  private static Rejection failed(SQLException failed) {
    return new Rejection.Unavailable("the log cannot be copied: " + failed.getMessage());
  }
}
