package dev.parley.bench;

import dev.parley.log.BlockLog;
import dev.parley.log.LogTuning;
import dev.parley.log.SqliteLog;
import dev.parley.runtime.SystemThreads;
import dev.parley.runtime.SystemTime;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.SplittableRandom;
import java.util.stream.IntStream;

/// Parley's log, as the server uses it: each context has a running task that writes text.
final class ParleyAppender implements DurableAppender {

  private final BlockLog log;
  private final BenchmarkContext[] conversations;

  ParleyAppender(Path folder, int contexts) {
    this(folder, contexts, InstantSource.system());
  }

  ParleyAppender(Path folder, int contexts, InstantSource clock) {
    log = open(folder, clock);
    conversations =
        IntStream.range(0, contexts)
            .mapToObj(_ -> BenchmarkContext.begin(log))
            .toArray(BenchmarkContext[]::new);
  }

  /// Opens a log with the limits of a server.
  static BlockLog open(Path folder, InstantSource clock) {
    var random = new SplittableRandom(1);
    var threads = new SystemThreads();
    return SqliteLog.open(
        new SqliteLog.SqliteLogDependencies(
            folder, new SystemTime(threads, clock), threads, random, LogTuning.DEFAULT));
  }

  @Override
  public String name() {
    return "Parley";
  }

  @Override
  public void append(int context, int index, String text) {
    conversations[context].appendText(index, text);
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
