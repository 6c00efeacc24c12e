package dev.parley.server;

import dev.parley.auth.Vault;
import dev.parley.cluster.Membership;
import dev.parley.http.ServerLocation;
import dev.parley.log.PostgresAddress;
import dev.parley.log.PostgresDatabase;
import dev.parley.log.PostgresNode;
import dev.parley.log.PostgresNode.NodeRole;
import dev.parley.log.PostgresNode.NodeRow;
import dev.parley.log.PostgresReport;
import dev.parley.log.PostgresReport.PostgresConnections;
import dev.parley.log.PostgresReport.PostgresContent;
import dev.parley.log.PostgresReport.PostgresSchema;
import dev.parley.log.PostgresReport.PostgresServer;
import dev.parley.protocol.Rejection;
import dev.parley.server.Diagnosis.DiagnosisFinding;
import dev.parley.server.Diagnosis.DiagnosisGrade;
import java.net.URI;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// Checks that servers can use a PostgreSQL database and share it. It changes nothing, and servers
/// may use the database meanwhile.
public final class DatabaseDiagnosis {

  /// The oldest version that the tests use.
  private static final int VERSION_MIN = 15;

  private static final int VERSION_FACTOR = 10_000;

  /// How many connections a server needs at most; see docs/cluster.md.
  static final int CONNECTIONS_OF_SERVER = 10;

  /// Appends wait for a commit, and a commit takes at least a round trip.
  private static final double ROUND_TRIP_SLOW_MILLIS = 5;

  private static final Duration PATIENCE = Duration.ofSeconds(10);

  private final PostgresDatabase database;
  private final Config.@Nullable VaultConfig vault;
  private final List<DatabaseFinding> findings = new ArrayList<>();

  /// A finding, and what it is about.
  public record DatabaseFinding(String subject, DiagnosisFinding finding) {}

  private DatabaseDiagnosis(PostgresDatabase database, Config.@Nullable VaultConfig vault) {
    this.database = database;
    this.vault = vault;
  }

  /// Checks a database. `vault` is null if it is not known; the vault is then not checked.
  public static List<DatabaseFinding> check(
      PostgresAddress address, Config.@Nullable VaultConfig vault) {
    var database = new PostgresDatabase(address);
    var diagnosis = new DatabaseDiagnosis(database, vault);
    try {
      var report = PostgresReport.read(database, PATIENCE, Server.ServerSources.real().time());
      diagnosis.report(report);
      report.content().ifPresent(diagnosis::reachable);
      if (report.content().isPresent()) {
        diagnosis.vault();
      }
    } catch (SQLException failed) {
      diagnosis.fail(
          "database",
          "%s cannot be used: %s: check the address, the password (PGPASSWORD) and pg_hba.conf"
              .formatted(database, failed.getMessage()));
    }
    return List.copyOf(diagnosis.findings);
  }

  /// What follows from a report alone.
  static List<DatabaseFinding> of(PostgresDatabase database, PostgresReport report) {
    var diagnosis = new DatabaseDiagnosis(database, null);
    diagnosis.report(report);
    return List.copyOf(diagnosis.findings);
  }

  private void report(PostgresReport report) {
    server(report.server());
    schema(report.schema(), report.server().user());
    durability(report);
    standbys(report);
    connections(report.connections());
    report
        .content()
        .ifPresent(
            content -> {
              servers(content.nodes());
              content(content, report);
            });
  }

  private void server(PostgresServer server) {
    var text =
        "PostgreSQL %s at %s, %s ms per round trip"
            .formatted(
                server.version(),
                database,
                String.format(Locale.ROOT, "%.2f", server.roundTripMillis()));
    if (server.versionNumber() / VERSION_FACTOR < VERSION_MIN) {
      fail("database", text + ": upgrade it to version " + VERSION_MIN + " or newer");
    } else if (server.roundTripMillis() > ROUND_TRIP_SLOW_MILLIS) {
      warn("database", text + ": every message waits for it; run the servers near the database");
    } else {
      ok("database", text);
    }
    if (!server.encrypted() && !server.sameMachine()) {
      warn(
          "encryption", "the connection is not encrypted: add ?sslmode=verify-full to the address");
    }
  }

  private void schema(PostgresSchema schema, String user) {
    if (schema.owner().isEmpty()) {
      if (schema.mayCreate()) {
        ok("schema", "the first start of a server creates it");
      } else {
        fail(
            "schema",
            "the user %s may not create it: GRANT CREATE ON DATABASE … TO %s"
                .formatted(user, user));
      }
    } else if (!schema.forbidden().isEmpty()) {
      fail(
          "schema",
          "the user %s may not use the tables %s in the schema parley: connect as %s"
              .formatted(user, String.join(", ", schema.forbidden()), schema.owner()));
    } else if (schema.version() > schema.current()) {
      fail(
          "schema",
          "a newer version of Parley wrote it (schema %d, this program knows %d): use that version"
              .formatted(schema.version(), schema.current()));
    } else if (!schema.mayMigrate()) {
      warn(
          "schema",
          "version %d; the user %s does not own it and cannot migrate it: connect as %s"
              .formatted(schema.version(), user, schema.owner()));
    } else if (schema.version() < schema.current()) {
      warn(
          "schema",
          "version %d; the next start of a server migrates it to %d"
              .formatted(schema.version(), schema.current()));
    } else {
      ok("schema", "version " + schema.version());
    }
  }

  private void durability(PostgresReport report) {
    var off =
        List.of("fsync", "full_page_writes").stream()
            .filter(name -> "off".equals(report.settings().get(name)))
            .collect(Collectors.joining(" and "));
    if (off.isEmpty()) {
      ok("durability", "fsync and full_page_writes are on");
    } else {
      fail(
          "durability",
          off
              + " must be on: otherwise a crash of the database's machine can lose or damage what"
              + " was acknowledged");
    }
  }

  private void standbys(PostgresReport report) {
    var names = report.settings().getOrDefault("synchronous_standby_names", "");
    var standbys = report.standbys();
    if (names.isEmpty()) {
      warn(
          "standby",
          "no standby is synchronous: if the database's disk is lost, the newest events are lost,"
              + " too. Set synchronous_standby_names, or rely on the disk");
    } else if (standbys.synchronous() > 0) {
      ok("standby", "%d synchronous (%s)".formatted(standbys.synchronous(), names));
    } else if (standbys.connected() > 0 && !standbys.visible()) {
      ok(
          "standby",
          "%d connected; GRANT pg_read_all_stats lets this check see whether one is synchronous"
              .formatted(standbys.connected()));
    } else {
      fail(
          "standby",
          "synchronous_standby_names is %s, but no such standby is connected: every write waits."
                  .formatted(names)
              + " Start the standby, or remove it from the setting");
    }
  }

  private void connections(PostgresConnections connections) {
    var text =
        "%d can still be opened; servers of Parley have %d"
            .formatted(connections.free(), connections.ofParley());
    if (connections.free() < CONNECTIONS_OF_SERVER) {
      warn(
          "connections",
          text
              + ": a server needs up to "
              + CONNECTIONS_OF_SERVER
              + "; increase max_connections or the limit of the user");
    } else {
      ok("connections", text);
    }
  }

  private void servers(List<NodeRow> nodes) {
    if (nodes.isEmpty()) {
      ok("servers", "no server uses the database");
      return;
    }
    var silent =
        nodes.stream()
            .filter(node -> node.secondsSilent() > Membership.DEAD_AFTER.toSeconds())
            .toList();
    silent.forEach(
        node ->
            warn(
                "servers",
                "%s has given no sign of life for %d s: another server replaces it if one runs;"
                        .formatted(described(node), node.secondsSilent())
                    + " otherwise start one"));
    var alive = nodes.stream().filter(node -> !silent.contains(node)).toList();
    alive.stream()
        .filter(node -> node.role() == NodeRole.ACTIVE)
        .forEach(node -> ok("servers", described(node) + " is active"));
    alive.stream()
        .filter(node -> node.role() == NodeRole.STANDBY)
        .forEach(
            node ->
                ok(
                    "servers",
                    described(node) + (node.drain() ? " is drained: restart it" : " is standby")));
    if (!alive.isEmpty() && alive.stream().noneMatch(node -> node.role() == NodeRole.ACTIVE)) {
      warn("servers", "none is active: look at their logs; restart those that are drained");
    }
    if (alive.stream().map(node -> node.info().version()).distinct().count() > 1) {
      warn("servers", "they have different versions: complete the upgrade");
    }
  }

  private static String described(NodeRow node) {
    return "server %d at %s, version %s"
        .formatted(node.id(), node.info().address(), node.info().version());
  }

  private void content(PostgresContent content, PostgresReport report) {
    var active = content.nodes().stream().anyMatch(node -> node.role() == NodeRole.ACTIVE);
    var erasures = content.pendingErasures();
    var text =
        "%d blocks (%d KiB) are not sealed yet; the data of %d deleted contexts is being removed"
            .formatted(content.blocks(), content.blockBytes() >> 10, erasures);
    if (erasures > 0 && !active) {
      warn("log", text + " when a server is active: start one");
    } else {
      ok("log", text);
    }
    if ("off".equals(report.settings().get("autovacuum"))) {
      warn("log", "autovacuum is off: deleted data stays in the files and they grow; switch it on");
    }
  }

  /// Connects to the active server as the others do.
  private void reachable(PostgresContent content) {
    content.nodes().stream()
        .filter(node -> node.role() == NodeRole.ACTIVE)
        .filter(node -> node.secondsSilent() <= Membership.DEAD_AFTER.toSeconds())
        .map(node -> node.info().address())
        .filter(address -> !new ServerLocation.Elsewhere(URI.create(address)).reachable())
        .forEach(
            address ->
                warn(
                    "servers",
                    "the active server cannot be reached from here at %s: check its --node-address"
                        .formatted(address)));
  }

  private void vault() {
    if (vault == null || vault.inMemory()) {
      return;
    }
    var key = vault.key();
    if (key == null) {
      warn(
          "vault",
          "no key is configured, so the key is in the same database as the credentials: set"
              + " PARLEY_VAULT_KEY to the same value for all servers");
      return;
    }
    try {
      Vault.in(
          new SharedVault(database, new PostgresNode(0)), key, Server.ServerSources.real().vault());
      ok("vault", "it can be opened");
    } catch (Rejection unusable) {
      fail("vault", String.valueOf(unusable.getMessage()));
    }
  }

  private void ok(String subject, String text) {
    add(subject, DiagnosisGrade.OK, text);
  }

  private void warn(String subject, String text) {
    add(subject, DiagnosisGrade.WARNING, text);
  }

  private void fail(String subject, String text) {
    add(subject, DiagnosisGrade.FAILURE, text);
  }

  private void add(String subject, DiagnosisGrade grade, String text) {
    findings.add(new DatabaseFinding(subject, new DiagnosisFinding(grade, text)));
  }
}
