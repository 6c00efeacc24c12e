package dev.parley.log;

import dev.parley.encryption.MasterKeyFile;
import dev.parley.log.SqliteLog.SqliteLogDependencies;
import dev.parley.runtime.SystemThreads;
import dev.parley.runtime.SystemTime;
import dev.parley.runtime.Threads;
import dev.parley.runtime.Time;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.List;

/// The dependencies of logs in tests.
public final class TestLogs {

  public static final Threads THREADS = new SystemThreads();
  public static final Time TIME = new SystemTime(THREADS);

  private TestLogs() {}

  /// A log in `folder` with the limits of a server.
  public static SqliteLogDependencies in(Path folder) {
    return in(folder, LogTuning.DEFAULT);
  }

  public static SqliteLogDependencies in(Path folder, LogTuning tuning) {
    return in(folder, tuning, TIME);
  }

  public static SqliteLogDependencies in(Path folder, LogTuning tuning, Time time) {
    return new SqliteLogDependencies(folder, time, THREADS, new SecureRandom(), tuning);
  }

  public static SqliteLogDependencies in(Path folder, LogTuning tuning, LogEncryption encryption) {
    return new SqliteLogDependencies(folder, TIME, THREADS, new SecureRandom(), tuning, encryption);
  }

  /// An encryption whose master key is in a file of this folder, which is created if it is missing.
  public static LogEncryption encryption(Path folder) {
    return LogEncryption.with(masterKey(folder));
  }

  static MasterKeyFile masterKey(Path folder) {
    var file = folder.resolve("master.key");
    try {
      if (!Files.exists(file)) {
        OwnerOnlyFiles.createFile(file);
        Files.writeString(file, MasterKeyFile.newLine() + "\n");
      }
      return new MasterKeyFile(file);
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }

  /// Copies the database of an open log, as a crash of its process would leave it.
  public static void copy(Path folder, Path target) throws IOException {
    Files.createDirectories(target);
    for (var file : List.of("log.db", "log.db-wal")) {
      Files.copy(folder.resolve(file), target.resolve(file));
    }
  }
}
