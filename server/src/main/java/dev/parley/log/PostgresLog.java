package dev.parley.log;

import dev.parley.log.BlockLog.BlockLogDependencies;
import dev.parley.protocol.Rejection;
import dev.parley.runtime.Threads;
import dev.parley.runtime.Time;
import java.sql.SQLException;
import java.util.random.RandomGenerator;

/// Opens the event log in a PostgreSQL database.
public final class PostgresLog {

  private PostgresLog() {}

  /// The database, the node that writes it, time and threads, the source of secrets, the limits of a
  /// log, and its encryption.
  public record PostgresLogDependencies(
      PostgresDatabase database,
      PostgresNode node,
      Time time,
      Threads threads,
      RandomGenerator random,
      LogTuning tuning,
      LogEncryption encryption) {

    private BlockLogDependencies with(BlockStore store) {
      return new BlockLogDependencies(store, time, threads, random, tuning);
    }
  }

  /// The database, time and threads, the limits and the encryption of a log that is only read.
  public record PostgresReaderDependencies(
      PostgresDatabase database,
      Time time,
      Threads threads,
      LogTuning tuning,
      LogEncryption encryption) {}

  /// Opens the sealed part of the log for reading, whichever node writes it.
  public static EventLog openSealed(PostgresReaderDependencies dependencies) {
    return new SealedEventLog(dependencies);
  }

  /// Opens the log. The node must be active. Calls `fatal` if a thread of the log fails, for
  /// example because the node is not active any more; the log then rejects all appends.
  ///
  /// @throws Rejection.Unavailable if the database cannot be used, or the node is not active
  public static BlockLog open(PostgresLogDependencies postgresLogDependencies, FatalHandler fatal) {
    return open(
        postgresLogDependencies,
        new PostgresStore(
            postgresLogDependencies.database(),
            postgresLogDependencies.node(),
            postgresLogDependencies.tuning(),
            postgresLogDependencies.encryption()),
        fatal);
  }

  /// Does the same with another store.
  static BlockLog open(
      PostgresLogDependencies postgresLogDependencies, BlockStore store, FatalHandler fatal) {
    try {
      return new BlockLog(postgresLogDependencies.with(store), () -> {}, fatal);
    } catch (SQLException failed) {
      throw new Rejection.Unavailable(
          "the log in PostgreSQL cannot be opened: " + failed.getMessage());
    }
  }
}
