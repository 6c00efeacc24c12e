package dev.parley.log;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.List;
import java.util.Properties;

/// The log's SQLite file: its connections, its schema and the schema's migrations.
final class LogDatabase {

  /// Each step takes the schema from one version to the next. Steps are added, never edited.
  private static final List<List<String>> MIGRATIONS =
      List.of(
          List.of(
              """
              CREATE TABLE contexts (
                number INTEGER PRIMARY KEY,
                id TEXT NOT NULL UNIQUE,
                owner TEXT NOT NULL,
                secret BLOB,
                sealed INTEGER NOT NULL DEFAULT 0,
                state BLOB,
                open_tasks INTEGER NOT NULL DEFAULT 0,
                touched INTEGER NOT NULL,
                deleted INTEGER NOT NULL DEFAULT 0)
              """,
              "CREATE INDEX contexts_by_touched ON contexts (touched)",
              "CREATE INDEX contexts_with_open_tasks ON contexts (number) WHERE open_tasks > 0",
              "CREATE TABLE blocks (id INTEGER PRIMARY KEY, data BLOB NOT NULL)",
              """
              CREATE TABLE segments (
                context INTEGER NOT NULL, last INTEGER NOT NULL, data BLOB NOT NULL)
              """,
              "CREATE UNIQUE INDEX segments_by_context ON segments (context, last)",
              """
              CREATE TABLE keys (
                context INTEGER NOT NULL,
                principal TEXT NOT NULL,
                key TEXT NOT NULL,
                hash TEXT NOT NULL,
                first INTEGER NOT NULL,
                last INTEGER NOT NULL,
                PRIMARY KEY (context, principal, key)) WITHOUT ROWID
              """),
          List.of(
              """
              CREATE TABLE shares (
                context INTEGER NOT NULL,
                last INTEGER NOT NULL,
                source INTEGER NOT NULL,
                secret BLOB NOT NULL,
                PRIMARY KEY (context, last)) WITHOUT ROWID
              """,
              "CREATE INDEX shares_by_source ON shares (source, last)",
              """
              CREATE TABLE states (
                context INTEGER NOT NULL, last INTEGER NOT NULL, data BLOB NOT NULL)
              """,
              "CREATE UNIQUE INDEX states_by_context ON states (context, last)"),
          List.of(
              """
              CREATE TABLE artifact_heads (
                context INTEGER NOT NULL,
                artifact TEXT NOT NULL,
                data BLOB NOT NULL,
                PRIMARY KEY (context, artifact)) WITHOUT ROWID
              """,
              "ALTER TABLE contexts ADD COLUMN deleted_by TEXT",
              "ALTER TABLE contexts ADD COLUMN deleted_at INTEGER",
              "CREATE TABLE erasures (context INTEGER PRIMARY KEY)",
              // Earlier versions deleted blocks without overwriting them: see
              // FreePages#NUMBER.
              "INSERT INTO erasures SELECT 0 WHERE EXISTS (SELECT 1 FROM contexts)"),
          List.of(
              "ALTER TABLE contexts ADD COLUMN data_key BLOB",
              "CREATE TABLE wrapping_keys (id INTEGER PRIMARY KEY, wrapped BLOB NOT NULL)"));

  private static final String OUR_TABLES =
      "SELECT count(*) FROM sqlite_master WHERE name IN ('contexts', 'blocks', 'segments', 'keys')";

  static final int BUSY_MILLIS = 2_000;

  private final Path file;
  private final Path wal;
  private final long walBytesMax;
  private final String url;

  /// Whenever SQLite restarts the write-ahead log, it truncates the file to `walBytesMax`.
  LogDatabase(Path file, long walBytesMax) {
    this.file = file;
    this.wal = file.resolveSibling(file.getFileName() + "-wal");
    this.walBytesMax = walBytesMax;
    this.url = "jdbc:sqlite:" + file;
  }

  /// Opens the file for its only writer, and migrates the schema to the current version.
  Connection openWriter() throws SQLException {
    OwnerOnlyFiles.createFile(file);
    var connection = open(false);
    try {
      migrate(connection);
      connection.setAutoCommit(false);
      return connection;
    } catch (SQLException failed) {
      connection.close();
      throw failed;
    }
  }

  /// Opens the file for reading only.
  Connection openReader() throws SQLException {
    var connection = open(true);
    Jdbc.execute(connection, "PRAGMA query_only = ON");
    return connection;
  }

  /// The size of the file of the write-ahead log, 0 if there is none. If it is larger than
  /// `walBytesMax`, that many bytes have been written since the last restart.
  long walBytes() {
    try {
      return Files.size(wal);
    } catch (IOException none) {
      return 0;
    }
  }

  private Connection open(boolean reader) throws SQLException {
    var connection = DriverManager.getConnection(url, new Properties());
    try {
      if (!reader) {
        Jdbc.execute(connection, "PRAGMA page_size = 4096");
        Jdbc.execute(connection, "PRAGMA journal_mode = WAL");
        Jdbc.execute(connection, "PRAGMA journal_size_limit = " + walBytesMax);
      }
      // FULL: a commit returns only after the write-ahead log is on the disk.
      Jdbc.execute(connection, "PRAGMA synchronous = FULL");
      Jdbc.execute(connection, "PRAGMA wal_autocheckpoint = 0");
      // Pages are overwritten when they become free, so that no data of a deleted context remains.
      Jdbc.execute(connection, "PRAGMA secure_delete = ON");
      Jdbc.execute(connection, "PRAGMA cache_size = -" + (reader ? 2_000 : 8_000));
      Jdbc.execute(connection, "PRAGMA busy_timeout = " + BUSY_MILLIS);
      return connection;
    } catch (SQLException failed) {
      connection.close();
      throw failed;
    }
  }

  /// The version of the schema.
  ///
  /// @throws SQLException if this version of Parley does not support it
  static long checkVersion(Connection connection) throws SQLException {
    var version = Jdbc.number(connection, "PRAGMA user_version");
    if (version > MIGRATIONS.size()) {
      throw new SQLException(
          "a newer version of Parley wrote the log (schema " + version + "); use that version");
    }
    return version;
  }

  /// True if the schema is current; false if it is older and will be migrated.
  ///
  /// @throws SQLException if this version of Parley does not support it
  static boolean isCurrent(Connection connection) throws SQLException {
    var version = checkVersion(connection);
    if (version == 0 && Jdbc.number(connection, OUR_TABLES) > 0) {
      throw new SQLException("it has tables of Parley, but no version");
    }
    return version == MIGRATIONS.size();
  }

  private static void migrate(Connection connection) throws SQLException {
    var version = checkVersion(connection);
    connection.setAutoCommit(false);
    for (var step = (int) version; step < MIGRATIONS.size(); step++) {
      for (var statement : MIGRATIONS.get(step)) {
        Jdbc.execute(connection, statement);
      }
      Jdbc.execute(connection, "PRAGMA user_version = " + (step + 1));
      connection.commit();
    }
  }
}
