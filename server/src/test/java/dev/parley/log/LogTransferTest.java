package dev.parley.log;

import static dev.parley.log.EventLogContract.CONTEXT;
import static dev.parley.log.EventLogContract.created;
import static dev.parley.log.EventLogContract.message;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.protocol.Position;
import dev.parley.protocol.Rejection;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Copies of a log between a data folder and a PostgreSQL database.
final class LogTransferTest {

  @TempDir Path temporary;
  private final String url = TestPostgres.createDatabase();
  private final PostgresDatabase database = TestPostgres.database(url);
  private Path folder;
  private Path copy;

  @BeforeEach
  void fill() {
    folder = temporary.resolve("folder");
    copy = temporary.resolve("copy");
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

  @Test
  void a_user_who_may_only_read_can_export() throws SQLException {
    LogTransfer.toDatabase(folder, database, _ -> {});
    try (var connection = database.connect()) {
      Jdbc.execute(
          connection,
          """
          CREATE ROLE auditor LOGIN;
          GRANT USAGE ON SCHEMA parley TO auditor;
          GRANT SELECT ON ALL TABLES IN SCHEMA parley TO auditor;
          """);
    }
    var readOnly = new PostgresDatabase(address(url.replace("postgres@", "auditor@")));

    LogTransfer.toFolder(readOnly, copy, _ -> {});

    try (var log = SqliteLog.open(TestLogs.in(copy))) {
      assertThat(log.read(CONTEXT, Position.START, 10)).hasSize(2);
    }
  }

  @Test
  void an_export_changes_nothing() {
    assertNotExported(
        new PostgresDatabase(address(TestPostgres.createDatabase())),
        "the database has no log of Parley");
  }

  @Test
  void another_version_of_the_schema_is_not_exported() throws SQLException {
    try (var connection = database.connect()) {
      Jdbc.execute(connection, "UPDATE schema_version SET version = version + 1");
      assertNotExported(database, "a newer version of Parley wrote the log");
      Jdbc.execute(connection, "UPDATE schema_version SET version = version - 2");
      assertNotExported(database, "an older version of Parley wrote the log");
    }
  }

  private void assertNotExported(PostgresDatabase source, String reason) {
    assertThatThrownBy(() -> LogTransfer.toFolder(source, copy, _ -> {}))
        .isInstanceOf(Rejection.Unavailable.class)
        .hasMessageContaining(reason);
    assertThat(copy).doesNotExist();
  }

  private static PostgresAddress address(String url) {
    return PostgresAddress.parse(url, Map.of());
  }
}
