package dev.parley.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.log.PostgresAddress;
import dev.parley.log.PostgresDatabase;
import dev.parley.log.PostgresReport;
import dev.parley.log.PostgresReport.PostgresConnections;
import dev.parley.log.PostgresReport.PostgresSchema;
import dev.parley.log.PostgresReport.PostgresServer;
import dev.parley.log.PostgresReport.PostgresStandbys;
import dev.parley.log.TestPostgres;
import dev.parley.server.Config.VaultConfig;
import dev.parley.server.DatabaseDiagnosis.DatabaseFinding;
import dev.parley.server.Diagnosis.DiagnosisGrade;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/// The check of a database finds what servers would fail at, and what loses events, and changes
/// nothing.
class DatabaseDiagnosisTest {

  private static final PostgresServer SERVER =
      new PostgresServer(150_018, "15.18", "parley", 0.2, true, false);
  private static final Map<String, String> SETTINGS =
      Map.of(
          "fsync", "on",
          "full_page_writes", "on",
          "autovacuum", "on",
          "synchronous_standby_names", "ANY 1 (a)");
  private static final PostgresSchema SCHEMA =
      new PostgresSchema(1, 1, "parley", List.of(), true, true);
  private static final PostgresReport GOOD =
      new PostgresReport(
          SERVER,
          SETTINGS,
          SCHEMA,
          new PostgresConnections(90, 6),
          new PostgresStandbys(1, 1, true),
          Optional.empty());

  private final String url = TestPostgres.createDatabase();

  private List<DatabaseFinding> check() {
    return DatabaseDiagnosis.check(PostgresAddress.parse(url, Map.of()), null);
  }

  private void execute(String sql) throws SQLException {
    try (var connection = TestPostgres.database(url).connect();
        var statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  private static List<DatabaseFinding> of(PostgresReport report) {
    return DatabaseDiagnosis.of(
        new PostgresDatabase(PostgresAddress.parse("postgresql://parley@db/parley", Map.of())),
        report);
  }

  private static void assertFinding(
      List<DatabaseFinding> findings, String subject, DiagnosisGrade grade, String text) {
    assertThat(findings)
        .anySatisfy(
            found -> {
              assertThat(found.subject()).isEqualTo(subject);
              assertThat(found.finding().grade()).isEqualTo(grade);
              assertThat(found.finding().text()).contains(text);
            });
  }

  /// The PostgreSQL of the tests runs without fsync.
  private static void assertFailsOnlyForTests(List<DatabaseFinding> findings) {
    assertThat(findings)
        .filteredOn(found -> found.finding().grade() == DiagnosisGrade.FAILURE)
        .singleElement()
        .extracting(found -> found.finding().text())
        .asString()
        .startsWith("fsync must be on");
  }

  @Test
  void an_empty_database_can_be_used_and_stays_empty() throws SQLException {
    var findings = check();

    assertFailsOnlyForTests(findings);
    assertFinding(findings, "schema", DiagnosisGrade.OK, "the first start of a server creates it");
    assertFinding(findings, "standby", DiagnosisGrade.WARNING, "no standby is synchronous");
    assertThat(check()).extracting(DatabaseFinding::subject).doesNotContain("servers", "log");
  }

  @Test
  void a_database_that_a_server_uses_is_ok() {
    try (var _ = TestPostgres.open(url)) {
      var findings = check();

      assertFailsOnlyForTests(findings);
      assertFinding(findings, "schema", DiagnosisGrade.OK, "version ");
      assertFinding(findings, "servers", DiagnosisGrade.OK, "version test is active");
      assertFinding(findings, "log", DiagnosisGrade.OK, "0 deleted contexts");
      // Nothing listens at the address of this server.
      assertFinding(findings, "servers", DiagnosisGrade.WARNING, "check its --node-address");
    }
  }

  @Test
  void a_server_that_is_silent_is_reported() throws SQLException {
    try (var _ = TestPostgres.open(url)) {
      execute("UPDATE beats SET at = clock_timestamp() - interval '2 minutes'");

      assertFinding(
          check(), "servers", DiagnosisGrade.WARNING, "has given no sign of life for 120 s");
    }
  }

  @Test
  void deleted_data_that_no_server_removes_is_reported() throws SQLException {
    execute("INSERT INTO erasures VALUES (7)");

    assertFinding(
        check(),
        "log",
        DiagnosisGrade.WARNING,
        "the data of 1 deleted contexts is being removed when a server is active");
  }

  @Test
  void a_schema_of_a_newer_version_is_a_failure() throws SQLException {
    execute("UPDATE schema_version SET version = 99");

    assertFinding(check(), "schema", DiagnosisGrade.FAILURE, "schema 99");
  }

  @Test
  void a_user_without_rights_is_a_failure() throws SQLException {
    execute("CREATE ROLE " + user() + " LOGIN CONNECTION LIMIT 3");
    var foreign = url.replace("postgres@", user() + "@");

    var findings = DatabaseDiagnosis.check(PostgresAddress.parse(foreign, Map.of()), null);

    assertFinding(findings, "schema", DiagnosisGrade.FAILURE, "connect as postgres");
    assertFinding(findings, "connections", DiagnosisGrade.WARNING, "2 can still be opened");
    execute("DROP SCHEMA parley CASCADE");
    assertFinding(
        DatabaseDiagnosis.check(PostgresAddress.parse(foreign, Map.of()), null),
        "schema",
        DiagnosisGrade.FAILURE,
        "GRANT CREATE ON DATABASE");
  }

  private String user() {
    return url.substring(url.lastIndexOf('/') + 1) + "_user";
  }

  @Test
  void a_database_that_cannot_be_reached_is_a_failure() {
    var findings =
        DatabaseDiagnosis.check(
            PostgresAddress.parse("postgresql://me:secret@127.0.0.1:1/none", Map.of()), null);

    assertThat(findings).hasSize(1);
    assertFinding(findings, "database", DiagnosisGrade.FAILURE, "me@127.0.0.1:1/none");
    assertThat(findings.toString()).doesNotContain("secret");
  }

  @Test
  void a_vault_without_a_key_of_its_own_is_a_warning() {
    TestPostgres.database(url);
    var address = PostgresAddress.parse(url, Map.of());

    assertFinding(
        DatabaseDiagnosis.check(address, new VaultConfig(false, null)),
        "vault",
        DiagnosisGrade.WARNING,
        "PARLEY_VAULT_KEY");
    assertFinding(
        DatabaseDiagnosis.check(address, new VaultConfig(false, "a long passphrase")),
        "vault",
        DiagnosisGrade.OK,
        "can be opened");
  }

  @Test
  void a_good_database_has_only_good_findings() {
    assertThat(of(GOOD))
        .allSatisfy(found -> assertThat(found.finding().grade()).isEqualTo(DiagnosisGrade.OK));
  }

  @Test
  void what_loses_events_or_stops_writes_is_a_failure() {
    var old = new PostgresServer(140_011, "14.11", "parley", 0.2, true, false);
    assertFinding(
        of(
            new PostgresReport(
                old, SETTINGS, SCHEMA, GOOD.connections(), GOOD.standbys(), GOOD.content())),
        "database",
        DiagnosisGrade.FAILURE,
        "upgrade it to version 15");
    assertFinding(
        of(with(Map.of("fsync", "off", "full_page_writes", "off"), GOOD.standbys())),
        "durability",
        DiagnosisGrade.FAILURE,
        "fsync and full_page_writes must be on");
    assertFinding(
        of(with(SETTINGS, new PostgresStandbys(0, 0, true))),
        "standby",
        DiagnosisGrade.FAILURE,
        "every write waits");
    assertFinding(
        of(with(SETTINGS, new PostgresStandbys(1, 0, false))),
        "standby",
        DiagnosisGrade.OK,
        "pg_read_all_stats");
  }

  private static PostgresReport with(Map<String, String> settings, PostgresStandbys standbys) {
    return new PostgresReport(
        SERVER, settings, SCHEMA, GOOD.connections(), standbys, GOOD.content());
  }

  @Test
  void a_slow_or_open_network_is_a_warning() {
    var far = new PostgresServer(150_018, "15.18", "parley", 20, false, false);
    var findings =
        of(
            new PostgresReport(
                far, SETTINGS, SCHEMA, GOOD.connections(), GOOD.standbys(), GOOD.content()));

    assertFinding(findings, "database", DiagnosisGrade.WARNING, "20.00 ms per round trip");
    assertFinding(findings, "encryption", DiagnosisGrade.WARNING, "sslmode=verify-full");
  }
}
