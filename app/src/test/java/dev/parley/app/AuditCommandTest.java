package dev.parley.app;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.audit.AuditDatabase;
import dev.parley.audit.AuditEvent;
import dev.parley.audit.AuditEvent.Actor;
import dev.parley.audit.AuditSettings;
import dev.parley.audit.AuditTrail;
import dev.parley.runtime.ManualTime;
import dev.parley.runtime.SystemThreads;
import dev.parley.server.Config;
import dev.parley.server.Server;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Instant;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// `parley audit` with a server whose trail has some records.
@Timeout(120)
class AuditCommandTest {

  private static Path data;
  private static Server server;

  @TempDir Path folder;

  @BeforeAll
  static void start(@TempDir Path shared) throws Exception {
    data = Files.createDirectory(shared.resolve("data"));
    var ann = new Actor("ann", "key", "key:1", "default", "192.0.2.1");
    try (var trail =
        new AuditTrail(
            AuditDatabase.file(data.resolve("audit.db")),
            AuditSettings.DEFAULTS,
            new ManualTime(),
            new SystemThreads())) {
      for (var i = 1; i <= 7; i++) {
        trail.record(AuditEvent.done(ann, "DELETE /api/contexts/{c}", "context:c-" + i));
      }
    }
    var config =
        Config.load(
                null, new Config.ProcessEnvironment(Map.of(), shared, shared), ProgramModules.ALL)
            .listeningOn("127.0.0.1", 0)
            .keepingDataIn(data);
    server = Server.start(config, ProgramModules.ALL);
    ServerFile.write(data, URI.create(server.url()), null, Instant.now());
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  private static TestTerminal run(int status, String... arguments) {
    var terminal = TestTerminal.piped(Map.of());
    var all = new String[arguments.length + 3];
    all[0] = "audit";
    System.arraycopy(arguments, 0, all, 1, arguments.length);
    all[arguments.length + 1] = "--data";
    all[arguments.length + 2] = data.toString();
    assertThat(terminal.run(all)).as(terminal.err()).isEqualTo(status);
    return terminal;
  }

  private static void execute(String sql) {
    try (var connection = DriverManager.getConnection("jdbc:sqlite:" + data.resolve("audit.db"));
        var statement = connection.createStatement()) {
      statement.execute(sql);
    } catch (SQLException failed) {
      throw new AssertionError(failed);
    }
  }

  @Test
  void lists_exports_and_verifies() throws Exception {
    assertThat(run(0, "--limit", "2", "--principal", "ann").out())
        .contains("ann", "192.0.2.1", "context:c-7", "context:c-6", "succeeded")
        .doesNotContain("context:c-5");
    assertThat(run(0, "--target", "context:c-3", "--json").out()).startsWith("{\"hash\":\"");

    var export = folder.resolve("audit.jsonl");
    run(0, "export", "--out", export.toString());
    run(2, "export", "--out", export.toString());
    var verified = run(0, "verify", export.toString()).out();
    assertThat(verified).startsWith("The audit trail is unchanged: ");
    var head = verified.strip().substring(verified.lastIndexOf(' ') + 1);
    run(0, "verify", "--contains", head);
    run(0, "verify", export.toString(), "--contains", head);
    assertThat(run(1, "verify", "--contains", "3:" + "0".repeat(64)).err())
        .contains("does not contain 3:0000");
    run(2, "verify", "--contains", "three");
    run(2, "prune");

    var lines = Files.readAllLines(export);
    lines.set(2, lines.get(2).replace("c-3", "c-9"));
    Files.write(export, lines);
    assertThat(run(1, "verify", export.toString()).err()).contains("record 3 was changed");
    lines.remove(2);
    Files.write(export, lines);
    assertThat(run(1, "verify", export.toString()).err()).contains("records are missing");
    Files.writeString(export, "no trail\n");
    assertThat(run(1, "verify", export.toString()).err()).contains("not a line");
  }

  @Test
  void a_change_in_the_database_of_a_running_server_is_found() {
    execute("UPDATE audit_records SET body = replace(body, 'ann', 'bob') WHERE number = 4");
    try {
      assertThat(run(1, "verify").err()).contains("record 4 was changed");
    } finally {
      execute("UPDATE audit_records SET body = replace(body, 'bob', 'ann') WHERE number = 4");
    }
    assertThat(run(0, "verify").out()).contains("unchanged");
  }
}
