package dev.parley.bench;

import dev.parley.log.BlockLog;
import dev.parley.log.FatalHandler;
import dev.parley.log.LogEncryption;
import dev.parley.log.LogTuning;
import dev.parley.log.PostgresAddress;
import dev.parley.log.PostgresDatabase;
import dev.parley.log.PostgresLog;
import dev.parley.log.PostgresLog.PostgresLogDependencies;
import dev.parley.log.PostgresNode;
import dev.parley.log.PostgresNode.NodeInfo;
import dev.parley.log.SqliteLog;
import dev.parley.protocol.ContextId;
import dev.parley.runtime.SystemThreads;
import dev.parley.runtime.SystemTime;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.InstantSource;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.IntStream;

/// Parley's log, as the server uses it: each context has a running task that writes text.
final class ParleyAppender implements DurableAppender {

  private final String name;
  private final BlockLog log;
  private final BenchmarkContext[] conversations;

  ParleyAppender(Path folder, int contexts) {
    this(folder, contexts, InstantSource.system());
  }

  /// The same under another name.
  ParleyAppender(String name, Path folder, int contexts) {
    this(name, open(folder, InstantSource.system()), contexts);
  }

  ParleyAppender(Path folder, int contexts, InstantSource clock) {
    this("Parley", open(folder, clock), contexts);
  }

  ParleyAppender(String name, BlockLog log, int contexts) {
    this.name = name;
    this.log = log;
    conversations =
        IntStream.range(0, contexts)
            .mapToObj(_ -> BenchmarkContext.begin(log))
            .toArray(BenchmarkContext[]::new);
  }

  /// Appends to a log in a new PostgreSQL database, as the active one of several servers does.
  static ParleyAppender inPostgres(String name, String address, int contexts) {
    var threads = new SystemThreads();
    var database = new PostgresDatabase(PostgresAddress.parse(address, Map.of()));
    var log =
        PostgresLog.open(
            new PostgresLogDependencies(
                database,
                activate(database),
                new SystemTime(threads),
                threads,
                new SplittableRandom(1),
                LogTuning.DEFAULT,
                LogEncryption.none()),
            FatalHandler.NONE);
    return new ParleyAppender(name, log, contexts);
  }

  private static PostgresNode activate(PostgresDatabase database) {
    try {
      database.migrate();
      try (var connection = database.connect()) {
        var node = PostgresNode.register(connection, new NodeInfo("http://127.0.0.1:1", "bench"));
        if (!node.takeOver(connection, null)) {
          throw new IllegalStateException("the database has an active server already");
        }
        return node;
      }
    } catch (SQLException failed) {
      throw new IllegalStateException(failed);
    }
  }

  /// Opens a log with the limits of a server.
  static BlockLog open(Path folder, InstantSource clock) {
    return open(folder, clock, LogEncryption.none());
  }

  /// Does the same with this encryption.
  static BlockLog open(Path folder, InstantSource clock, LogEncryption encryption) {
    var random = new SplittableRandom(1);
    var threads = new SystemThreads();
    return SqliteLog.open(
        new SqliteLog.SqliteLogDependencies(
            folder,
            new SystemTime(threads, clock),
            threads,
            random,
            LogTuning.DEFAULT,
            encryption));
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public void append(int context, int index, String text) {
    conversations[context].appendText(index, text);
  }

  /// The context of this number.
  ContextId context(int number) {
    return conversations[number].context();
  }

  /// The log that it appends to.
  BlockLog log() {
    return log;
  }

  /// Bytes that are not in segments yet.
  long unsealedBytes() {
    return log.unsealedBytes();
  }

  @Override
  public void close() {
    log.close();
  }
}
