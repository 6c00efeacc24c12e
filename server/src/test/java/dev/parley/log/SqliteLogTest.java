package dev.parley.log;

import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;

/// The contract with limits so small that every entry is soon sealed.
final class SqliteLogTest extends EventLogContract {

  static final LogTuning SMALL = new LogTuning(64, 4_096, 5, 2_000, 8_000, 2, 64 << 10);

  @TempDir Path folder;

  @Override
  EventLog open() {
    return open(folder);
  }

  static BlockLog open(Path folder) {
    return SqliteLog.open(TestLogs.in(folder, SMALL));
  }
}
