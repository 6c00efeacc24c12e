package dev.parley.log;

import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;

/// Copies a database of Parley while other connections may write to it, and checks the copy.
public final class DatabaseBackup {

  private static final int BUSY_MILLIS = 10_000;

  private DatabaseBackup() {}

  /// Copies `from` to `to`, which must not exist. The copy has no free pages and no write-ahead
  /// log, and only its owner can read it. If `log` is true, the database is the log and its schema
  /// version is checked.
  ///
  /// The copy is made in one read transaction. The writer continues meanwhile, and the copy
  /// contains all data that was durable before. `VACUUM INTO` copies rows, so the copy contains no
  /// erased data.
  ///
  /// @throws SQLException if the database cannot be copied, is damaged, or was written by a newer
  ///     version
  public static void copy(Path from, Path to, boolean log) throws SQLException {
    // SQLite accepts an empty file as the target and keeps its permissions.
    OwnerOnlyFiles.createFile(to);
    try (var connection = open(from);
        var vacuum = connection.prepareStatement("VACUUM INTO ?")) {
      if (log) {
        LogDatabase.checkVersion(connection);
      }
      vacuum.setString(1, to.toString());
      vacuum.execute();
    }
    try (var copy = open(to);
        var statement = copy.createStatement();
        var rows = statement.executeQuery("PRAGMA integrity_check(1)")) {
      var found = rows.next() ? rows.getString(1) : "nothing";
      if (!"ok".equals(found)) {
        throw new SQLException(from.getFileName() + " is damaged: " + found);
      }
    }
  }

  private static Connection open(Path file) throws SQLException {
    if (!Files.isReadable(file)) {
      throw new SQLException("cannot read " + file);
    }
    var connection = DriverManager.getConnection("jdbc:sqlite:" + file);
    try {
      Jdbc.execute(connection, "PRAGMA busy_timeout = " + BUSY_MILLIS);
      return connection;
    } catch (SQLException failed) {
      connection.close();
      throw failed;
    }
  }
}
