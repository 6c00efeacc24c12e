package dev.parley.log;

import static dev.parley.log.EventLogContract.CONTEXT;
import static dev.parley.log.EventLogContract.created;
import static dev.parley.log.EventLogContract.message;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.sql.SQLException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Copies of a log between a data folder and a PostgreSQL database.
final class LogTransferTest {

  @TempDir Path folder;
  private final PostgresDatabase database = TestPostgres.database(TestPostgres.createDatabase());

  @BeforeEach
  void fill() {
    fill(folder);
  }

  /// Creates a data folder with one context and two events.
  static void fill(Path folder) {
    try (var log = SqliteLog.open(TestLogs.in(folder), FatalHandler.NONE)) {
      log.create(CONTEXT, created());
      log.append(CONTEXT, AppendGuard.none(), Decision.always(message("one")));
    }
  }

  @Test
  void an_import_may_pause() throws SQLException {
    try (var connection = database.connect()) {
      // The database would end a paused transaction after this time.
      Jdbc.execute(
          connection,
          """
          CREATE TABLE limits AS SELECT '' AS value;
          CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN
              UPDATE parley.limits
                SET value = current_setting('idle_in_transaction_session_timeout');
              RETURN new;
            END $$;
          CREATE TRIGGER note BEFORE INSERT ON contexts FOR EACH ROW EXECUTE FUNCTION note();
          """);

      LogTransfer.toDatabase(folder, database, _ -> {});

      assertThat(Jdbc.list(connection, "SELECT value FROM limits", row -> row.getString(1)))
          .containsExactly("0");
    }
  }
}
