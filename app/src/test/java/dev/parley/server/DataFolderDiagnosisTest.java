package dev.parley.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.client.ParleyClient;
import dev.parley.protocol.Rejection;
import dev.parley.server.Diagnosis.DiagnosisFinding;
import dev.parley.server.Diagnosis.DiagnosisGrade;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// The check of a data folder finds what a server would reject at its start, and changes nothing.
@Timeout(120)
class DataFolderDiagnosisTest {

  private static final int RANDOM_BYTES = 6_000;

  @TempDir Path folder;
  private Path data;

  @BeforeEach
  void use() throws InterruptedException {
    data = folder.resolve("data");
    try (var server = start();
        var client = new ParleyClient(URI.create(server.url()));
        var answer = client.ask("count to 300")) {
      assertThat(answer.text()).contains("300");
    }
  }

  @Test
  void a_folder_that_a_server_can_open_is_ok() throws Exception {
    assertThat(findings())
        .containsOnlyKeys("permissions", "log.db", "views.db", "push.db", "vault")
        .allSatisfy((_, finding) -> assertThat(finding.grade()).isEqualTo(DiagnosisGrade.OK));
  }

  @Test
  void a_folder_that_a_server_uses_is_ok() throws Exception {
    try (var server = start();
        var client = new ParleyClient(URI.create(server.url()));
        var answer = client.ask("count slowly to 20")) {
      assertThat(read(data))
          .containsOnlyKeys("permissions", "log.db", "views.db", "push.db", "vault")
          .allSatisfy((_, finding) -> assertThat(finding.grade()).isEqualTo(DiagnosisGrade.OK));
      assertThat(answer.text()).contains("20");
    }
  }

  @Test
  void a_folder_that_a_crash_left_is_ok() throws Exception {
    var copy = Files.createDirectory(folder.resolve("crashed"));
    Files.setPosixFilePermissions(copy, PosixFilePermissions.fromString("rwx------"));
    try (var server = start();
        var client = new ParleyClient(URI.create(server.url()));
        var answer = client.ask("count to 20")) {
      assertThat(answer.text()).contains("20");
      for (var name : files(data).keySet()) {
        Files.copy(data.resolve(name), copy.resolve(name));
      }
    }
    assertThat(files(copy)).containsKeys("log.db-wal", "log.db-shm");
    data = copy;

    assertThat(findings())
        .allSatisfy((_, finding) -> assertThat(finding.grade()).isEqualTo(DiagnosisGrade.OK));
  }

  @Test
  void a_log_that_is_no_database_is_a_failure() throws Exception {
    Files.writeString(data.resolve("log.db"), "This is a text and no database.\n".repeat(500));

    assertFailure("log.db", "file is not a database");
    assertRejected();
  }

  @Test
  void a_log_with_random_bytes_is_a_failure() throws Exception {
    var bytes = Files.readAllBytes(data.resolve("log.db"));
    var random = new byte[RANDOM_BYTES];
    new Random(1).nextBytes(random);
    System.arraycopy(random, 0, bytes, bytes.length / 2, random.length);
    Files.write(data.resolve("log.db"), bytes);

    assertFailure("log.db", "restore a backup");
  }

  @Test
  void a_log_of_a_newer_version_is_a_failure() throws Exception {
    execute("log.db", "PRAGMA user_version = 999");

    assertFailure("log.db", "a newer version of Parley wrote the log (schema 999)");
    assertRejected();
  }

  @Test
  void a_log_whose_blocks_cannot_be_read_is_a_failure() throws Exception {
    execute("log.db", "INSERT INTO blocks VALUES (1000000, x'ffffff')");

    assertFailure("log.db", "a block cannot be read");
  }

  @Test
  void webhooks_that_are_no_database_are_a_failure() throws Exception {
    Files.writeString(data.resolve("push.db"), "This is a text and no database.\n".repeat(500));

    assertFailure("push.db", "file is not a database");
    assertRejected();
  }

  @Test
  void webhooks_with_other_columns_are_a_failure() throws Exception {
    execute("push.db", "ALTER TABLE targets RENAME COLUMN cursor TO place");

    assertFailure("push.db", "no such column: cursor");
  }

  @Test
  void a_key_file_that_others_can_read_is_a_failure() throws Exception {
    permit("vault.key", "rw-r--r--");

    assertFailure("vault", "others can read it; run chmod 600");
    assertRejected();
  }

  @Test
  void a_key_file_that_others_can_read_is_a_failure_before_the_vault_exists() throws Exception {
    permit("vault.key", "rw-r--r--");
    Files.delete(data.resolve("vault.bin"));
    Files.delete(data.resolve("push.db"));

    assertFailure("vault", "others can read it; run chmod 600");
    assertRejected();
  }

  @Test
  void a_vault_with_another_key_is_a_failure() throws Exception {
    Files.delete(data.resolve("vault.key"));

    assertFailure("vault", "the key of the vault is missing");
    assertRejected();
  }

  @Test
  void views_that_the_next_start_rebuilds_are_a_warning() throws Exception {
    execute("views.db", "PRAGMA user_version = 999");
    assertThat(findings().get("views.db"))
        .isEqualTo(
            warning("the next start rebuilds the views: another version of Parley wrote them"));

    var bytes = Files.readAllBytes(data.resolve("views.db"));
    Arrays.fill(bytes, bytes.length / 2, bytes.length, (byte) 7);
    Files.write(data.resolve("views.db"), bytes);
    assertThat(findings().get("views.db"))
        .isEqualTo(warning("the next start rebuilds the views: they are damaged"));
    start().close();
  }

  @Test
  void files_that_others_can_read_are_a_warning() throws Exception {
    permit("log.db", "rw-r--r--");

    var finding = findings().get("permissions");
    assertThat(finding.grade()).isEqualTo(DiagnosisGrade.WARNING);
    assertThat(finding.text())
        .isEqualTo(
            "other users can access %s; the next start changes its mode"
                .formatted(data.resolve("log.db")));
  }

  @Test
  void a_large_database_is_read_only_for_a_limited_time() throws Exception {
    var diagnosis = new DataFolderDiagnosis(data, null, Duration.ZERO);

    assertThat(diagnosis.checks().get(1).finding())
        .isEqualTo(
            new DiagnosisFinding(
                DiagnosisGrade.OK, "no damage found in the part that was read within 0 s"));
  }

  private void assertFailure(String subject, String reason) throws Exception {
    var finding = findings().get(subject);
    assertThat(finding).isNotNull();
    assertThat(finding.text()).contains(reason);
    assertThat(finding.grade()).isEqualTo(DiagnosisGrade.FAILURE);
  }

  private void assertRejected() {
    assertThatThrownBy(this::start).isInstanceOf(Rejection.class);
  }

  private static DiagnosisFinding warning(String text) {
    return new DiagnosisFinding(DiagnosisGrade.WARNING, text);
  }

  /// The findings of all checks. The checks must not change any file.
  private Map<String, DiagnosisFinding> findings() throws Exception {
    var before = files(data);
    var findings = read(data);
    assertThat(files(data)).isEqualTo(before);
    return findings;
  }

  private static Map<String, DiagnosisFinding> read(Path data) throws InterruptedException {
    var findings = new LinkedHashMap<String, DiagnosisFinding>();
    for (var check : new DataFolderDiagnosis(data, vault(null)).checks()) {
      findings.put(check.subject(), check.finding());
    }
    return findings;
  }

  private static Config.VaultConfig vault(@Nullable String key) {
    return new Config.VaultConfig(false, key);
  }

  /// The names, modes and contents of all files.
  private static Map<String, String> files(Path data) throws IOException {
    var files = new TreeMap<String, String>();
    try (var entries = Files.newDirectoryStream(data, Files::isRegularFile)) {
      for (var file : entries) {
        files.put(
            file.getFileName().toString(),
            Files.getPosixFilePermissions(file) + " " + Arrays.hashCode(Files.readAllBytes(file)));
      }
    }
    return files;
  }

  private void permit(String name, String permissions) throws IOException {
    Files.setPosixFilePermissions(data.resolve(name), PosixFilePermissions.fromString(permissions));
  }

  private void execute(String name, String sql) throws SQLException {
    try (var connection = DriverManager.getConnection("jdbc:sqlite:" + data.resolve(name));
        var statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  private Server start() {
    return Server.start(TestServer.config(folder).listeningOn("127.0.0.1", 0).keepingDataIn(data));
  }
}
