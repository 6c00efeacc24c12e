package dev.parley.bench;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.logging.Level;
import java.util.logging.Logger;

/// A PostgreSQL server, optionally with a synchronous standby, from the packages in Maven. Commits
/// wait for the disk, on both.
final class PostgresPeer implements AutoCloseable {

  /// The packages are made for tests, and turn the first two off.
  private static final Map<String, String> DURABLE =
      Map.of("fsync", "on", "synchronous_commit", "on");

  private static final List<String> SHOWN =
      List.of(
          "server_version",
          "fsync",
          "synchronous_commit",
          "full_page_writes",
          "wal_sync_method",
          "shared_buffers",
          "max_wal_size");

  private static final int PATIENCE_MILLIS = 60_000;

  /// A constant, because a logger without references is collected and loses its level.
  private static final Logger LOGGER = Logger.getLogger("io.zonky");

  private final EmbeddedPostgres server;
  private final Optional<EmbeddedPostgres> standby;
  private int databases;

  private PostgresPeer(EmbeddedPostgres server, Optional<EmbeddedPostgres> standby) {
    this.server = server;
    this.standby = standby;
  }

  /// Starts a server with its data in a new folder below `folder`. If that does not work, reports
  /// this and returns empty.
  static Optional<PostgresPeer> start(Path folder, BenchmarkReport benchmarkReport) {
    LOGGER.setLevel(Level.WARNING);
    try {
      return Optional.of(new PostgresPeer(builder(folder, "alone").start(), Optional.empty()));
    } catch (IOException | IllegalStateException failed) {
      benchmarkReport.note("PostgreSQL left out, because it does not start: " + failed);
      return Optional.empty();
    }
  }

  /// Starts a server and a standby on which every commit must be written, too.
  static PostgresPeer startWithStandby(Path folder) throws IOException, SQLException {
    var copy = folder.resolve("standby");
    // Both begin with the same empty data. From then on, the standby reads the server's journal.
    var server =
        builder(folder, "primary").setDataDirectoryCustomizer(made -> copy(made, copy)).start();
    Files.createFile(copy.resolve("standby.signal"));
    Files.writeString(
        copy.resolve("postgresql.auto.conf"),
        "primary_conninfo = 'host=localhost user=postgres port=" + server.getPort() + "'\n");
    var standby = builder(folder, "standby").setCleanDataDirectory(false).start();
    var peer = new PostgresPeer(server, Optional.of(standby));
    peer.waitForStandby();
    return peer;
  }

  private static EmbeddedPostgres.Builder builder(Path folder, String name) {
    var builder = EmbeddedPostgres.builder().setDataDirectory(folder.resolve(name));
    DURABLE.forEach(builder::setServerConfig);
    return builder;
  }

  private static void copy(File from, Path to) {
    try (var files = Files.walk(from.toPath())) {
      for (var file : files.toList()) {
        Files.copy(
            file, to.resolve(from.toPath().relativize(file)), StandardCopyOption.COPY_ATTRIBUTES);
      }
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }

  private void waitForStandby() throws IOException, SQLException {
    try (var connection = server.getPostgresDatabase().getConnection()) {
      execute(connection, "ALTER SYSTEM SET synchronous_standby_names = '*'");
      execute(connection, "SELECT pg_reload_conf()");
      var deadline = System.nanoTime() + PATIENCE_MILLIS * 1_000_000L;
      var query = "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'";
      while (text(connection, query).equals("0")) {
        if (System.nanoTime() > deadline) {
          throw new IOException("the standby does not follow the server");
        }
        Thread.onSpinWait();
      }
    }
  }

  /// Creates an empty database.
  PeerDatabase createDatabase() throws SQLException {
    databases++;
    var database = new PeerDatabase(server, "bench" + databases);
    try (var connection = server.getPostgresDatabase().getConnection()) {
      execute(connection, "CREATE DATABASE " + database.name());
    }
    return database;
  }

  /// One of the server's databases.
  record PeerDatabase(EmbeddedPostgres server, String name) {

    String address() {
      return "postgresql://postgres@localhost:" + server.getPort() + "/" + name;
    }

    List<Connection> connect(int count) throws SQLException {
      var connections = new ArrayList<Connection>();
      for (var i = 0; i < count; i++) {
        connections.add(server.getDatabase("postgres", name).getConnection());
      }
      return connections;
    }
  }

  /// The version and the settings that matter.
  String describe() throws SQLException {
    var settings = new ArrayList<String>();
    try (var connection = server.getPostgresDatabase().getConnection()) {
      for (var name : SHOWN) {
        settings.add(name + " " + text(connection, "SHOW " + name));
      }
    }
    return "PostgreSQL: "
        + String.join(", ", settings)
        + (standby.isPresent() ? ", with a synchronous standby on the same disk" : "");
  }

  private static String text(Connection connection, String query) throws SQLException {
    try (var statement = connection.createStatement();
        var row = statement.executeQuery(query)) {
      row.next();
      return row.getString(1);
    }
  }

  private static void execute(Connection connection, String sql) throws SQLException {
    try (var statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  @Override
  public void close() throws IOException {
    close(server);
    if (standby.isPresent()) {
      close(standby.get());
    }
  }

  /// Writes all data first: a server that does this while it stops exceeds the time for that.
  private static void close(EmbeddedPostgres postgres) throws IOException {
    try (var connection = postgres.getPostgresDatabase().getConnection()) {
      execute(connection, "CHECKPOINT");
    } catch (SQLException failed) {
      throw new IOException(failed);
    } finally {
      postgres.close();
    }
  }
}
