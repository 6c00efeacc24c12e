package dev.parley.log;

import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;

/// Forks with encryption.
final class EncryptedSqliteForkTest extends ForkContract {

  @TempDir Path folder;

  @Override
  EventLog open() {
    return SqliteLog.open(
        TestLogs.in(folder.resolve("data"), SqliteLogTest.SMALL, TestLogs.encryption(folder)));
  }
}
