package dev.parley.log;

import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;

/// The contract with encryption.
final class EncryptedSqliteLogTest extends EventLogContract {

  @TempDir Path folder;

  @Override
  EventLog open() {
    return SqliteLog.open(
        TestLogs.in(folder.resolve("data"), SqliteLogTest.SMALL, TestLogs.encryption(folder)));
  }
}
