package dev.parley.log;

import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;

/// The contract on PostgreSQL with encryption.
final class EncryptedPostgresLogTest extends EventLogContract {

  @TempDir Path folder;

  @Override
  EventLog open() {
    return TestPostgres.open(TestPostgres.createDatabase(), TestLogs.encryption(folder));
  }
}
