package dev.parley.log;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import org.sqlite.ProgressHandler;
import org.sqlite.SQLiteErrorCode;

/// Checks a database of a data folder without changing it, also while a server uses it.
public final class DatabaseCheck {

  private static final String READ_ONLY = "mode=ro";
  private static final int BUSY_MILLIS = 10_000;

  /// How many instructions of SQLite's virtual machine run between two looks at the clock.
  private static final int STEPS = 100;

  /// Reads what a server reads when it opens the database.
  public interface ContentCheck {
    void read(Connection connection) throws SQLException;
  }

  private DatabaseCheck() {}

  /// Checks the log in `file`, as [#check(Path, Duration, ContentCheck)] does.
  public static boolean checkLog(Path file, Duration patience) throws SQLException {
    return check(file, patience, DatabaseCheck::readAsAtStart);
  }

  /// Runs `content` and then SQLite's check of the whole file.
  ///
  /// @return false if `patience` ended before the whole file was checked
  /// @throws SQLException if a server could not open the file, or if the file is damaged
  public static boolean check(Path file, Duration patience, ContentCheck content)
      throws SQLException {
    if (!Files.isReadable(file)) {
      throw new SQLException("it cannot be read; check its owner and mode");
    }
    if (!Files.isWritable(file)) {
      throw new SQLException("it cannot be written; check its owner and mode");
    }
    var mode = mode(file);
    try {
      return check(file, mode, patience, content);
    } catch (SQLException failed) {
      if (mode.equals(mode(file)) && !sharedMemoryUnusable(failed)) {
        throw failed;
      }
      // A server has just been started or stopped.
      return check(file, READ_ONLY, patience, content);
    }
  }

  /// Returns the parameters with which SQLite reads the file and leaves the folder as it is.
  ///
  /// Files with the suffix `-shm` and `-wal` exist while a server runs and after a crash. SQLite
  /// would create them for a reader, and recover them after a crash.
  private static String mode(Path file) {
    if (Files.exists(beside(file, "-shm"))) {
      return READ_ONLY + "&readonly_shm=1";
    }
    return isEmpty(beside(file, "-wal")) ? "immutable=1" : READ_ONLY;
  }

  private static Path beside(Path file, String suffix) {
    return file.resolveSibling(file.getFileName() + suffix);
  }

  private static boolean isEmpty(Path file) {
    try {
      return Files.size(file) == 0;
    } catch (IOException missing) {
      return true;
    }
  }

  private static boolean sharedMemoryUnusable(SQLException failed) {
    return switch (SQLiteErrorCode.getErrorCode(failed.getErrorCode() & 0xff)) {
      case SQLITE_READONLY, SQLITE_CANTOPEN -> true;
      default -> false;
    };
  }

  private static boolean check(Path file, String mode, Duration patience, ContentCheck content)
      throws SQLException {
    var url = "jdbc:sqlite:file:" + file.toAbsolutePath().toUri().getRawPath() + "?" + mode;
    try (var connection = DriverManager.getConnection(url)) {
      Jdbc.execute(connection, "PRAGMA busy_timeout = " + BUSY_MILLIS);
      // One transaction, so that everything is read from one state.
      connection.setAutoCommit(false);
      content.read(connection);
      return checkIntegrity(connection, patience);
    }
  }

  private static boolean checkIntegrity(Connection connection, Duration patience)
      throws SQLException {
    var start = System.nanoTime();
    ProgressHandler.setHandler(
        connection,
        STEPS,
        new ProgressHandler() {
          @Override
          protected int progress() {
            return System.nanoTime() - start < patience.toNanos() ? 0 : 1;
          }
        });
    try (var statement = connection.createStatement();
        var rows = statement.executeQuery("PRAGMA integrity_check(1)")) {
      var found = rows.next() ? rows.getString(1) : "nothing";
      if (!"ok".equals(found)) {
        throw new SQLException(
            "it is damaged: " + found.replaceAll("\\s+", " "),
            "",
            SQLiteErrorCode.SQLITE_CORRUPT.code);
      }
      return true;
    } catch (SQLException failed) {
      if (failed.getErrorCode() == SQLiteErrorCode.SQLITE_INTERRUPT.code) {
        return false;
      }
      throw failed;
    } finally {
      ProgressHandler.clearHandler(connection);
    }
  }

  /// Reads what the start of a server reads, and writes nothing.
  ///
  /// @throws SQLException if a server could not start with this database
  private static void readAsAtStart(Connection connection) throws SQLException {
    if (LogDatabase.isCurrent(connection)) {
      try {
        // Encrypted entries cannot be read here.
        if (Jdbc.number(connection, "SELECT count(*) FROM wrapping_keys") == 0) {
          new TableReader(connection, LogEncryption.none())
              .loadUnsealed(
                  new UnsealedBlocks(LogTuning.DEFAULT), MemoryLimiters.of(LogTuning.DEFAULT));
        }
      } catch (RuntimeException unreadable) {
        throw new SQLException("it is damaged: a block cannot be read", unreadable);
      }
      Jdbc.number(connection, "SELECT max(number) FROM contexts");
    }
  }
}
