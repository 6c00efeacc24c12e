package dev.parley.log;

import dev.parley.log.BlockLog.BlockLogDependencies;
import dev.parley.protocol.Rejection;
import dev.parley.runtime.Threads;
import dev.parley.runtime.Time;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.random.RandomGenerator;

/// Opens the event log in one SQLite file.
public final class SqliteLog {

  private SqliteLog() {}

  /// The data folder, time and threads, the source of secrets, the limits of a log, and its
  /// encryption.
  public record SqliteLogDependencies(
      Path folder,
      Time time,
      Threads threads,
      RandomGenerator random,
      LogTuning tuning,
      LogEncryption encryption) {

    /// A log that is not encrypted.
    public SqliteLogDependencies(
        Path folder, Time time, Threads threads, RandomGenerator random, LogTuning tuning) {
      this(folder, time, threads, random, tuning, LogEncryption.none());
    }

    private BlockLogDependencies with(BlockStore store) {
      return new BlockLogDependencies(store, time, threads, random, tuning);
    }
  }

  /// Opens the log in `sqliteLogDependencies.folder()`, which is created if it is missing.
  ///
  /// @throws Rejection.Conflict if another process uses the folder
  /// @throws Rejection.Unavailable if the files cannot be opened
  public static BlockLog open(SqliteLogDependencies sqliteLogDependencies) {
    return open(sqliteLogDependencies, FatalHandler.NONE);
  }

  /// Does the same. Calls `fatal` if a thread of the log fails; the log then rejects all appends.
  public static BlockLog open(SqliteLogDependencies sqliteLogDependencies, FatalHandler fatal) {
    return open(
        sqliteLogDependencies,
        new SqliteStore(
            sqliteLogDependencies.folder(),
            sqliteLogDependencies.tuning(),
            sqliteLogDependencies.encryption()),
        fatal);
  }

  /// Does the same with another store.
  static BlockLog open(
      SqliteLogDependencies sqliteLogDependencies, BlockStore store, FatalHandler fatal) {
    var folder = DataFolder.claim(sqliteLogDependencies.folder());
    var opened = false;
    try {
      var log = new BlockLog(sqliteLogDependencies.with(store), folder::close, fatal);
      opened = true;
      return log;
    } catch (SQLException failed) {
      throw new Rejection.Unavailable(
          "the log in "
              + sqliteLogDependencies.folder()
              + " cannot be opened: "
              + failed.getMessage());
    } finally {
      if (!opened) {
        folder.close();
      }
    }
  }
}
