package dev.parley.app;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.parley.log.TestPostgres;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/// A PostgreSQL primary and its synchronous standby on this machine, which a test can stop, restart
/// and promote.
///
/// The programs are those of the folder `-Dparley.postgres`, or of the operating system. Where there
/// are none, the PostgreSQL of the other tests is used, which cannot make a standby. Not thread-safe.
final class PostgresPair implements AutoCloseable {

  private static final int PATIENCE_SECONDS = 120;

  /// Below the ports that systems give to outgoing connections, so that a server finds its port free
  /// when it starts again.
  private static final int FIRST_PORT = 20_000;

  private static final int PORTS = 10_000;

  private static final List<String> SETTINGS =
      List.of(
          "listen_addresses = '127.0.0.1'",
          "unix_socket_directories = ''",
          "shared_buffers = 16MB",
          "max_connections = 120",
          "fsync = on",
          "max_wal_size = 64MB",
          "wal_keep_size = 256MB",
          "wal_retrieve_retry_interval = 100ms",
          "log_min_messages = warning");

  private final Path programs;
  private final boolean replicated;
  private final PostgresMember[] members;
  private int primary;

  /// One of the two servers. `process` is the shell that ends the server when the test ends.
  private static final class PostgresMember {
    final Path data;
    final int port = freePort();
    @Nullable Process process;

    PostgresMember(Path data) {
      this.data = data;
    }
  }

  private PostgresPair(Path programs, Path folder) {
    this.programs = programs;
    this.replicated = canReplicate(programs);
    this.members =
        new PostgresMember[] {
          new PostgresMember(folder.resolve("postgres0")),
          new PostgresMember(folder.resolve("postgres1"))
        };
  }

  /// Starts a primary in `folder`, and a synchronous standby if the installed programs can make one.
  static PostgresPair start(Path folder) {
    var pair = new PostgresPair(findPrograms(), folder);
    try {
      pair.initialize();
      return pair;
    } catch (RuntimeException failed) {
      pair.close();
      throw failed;
    }
  }

  /// A port of this machine that is free.
  static int freePort() {
    while (true) {
      var port = FIRST_PORT + ThreadLocalRandom.current().nextInt(PORTS);
      try (var _ = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
        return port;
      } catch (IOException used) {
        // The next one may be free.
      }
    }
  }

  private static Path findPrograms() {
    var chosen = System.getProperty("parley.postgres");
    if (chosen != null) {
      return Path.of(chosen);
    }
    return installedPrograms().orElseGet(PostgresPair::programsOfMaven);
  }

  private static Optional<Path> installedPrograms() {
    var debian = Path.of("/usr/lib/postgresql");
    var folders = new ArrayList<Path>();
    if (Files.isDirectory(debian)) {
      try (var versions = Files.list(debian)) {
        versions.map(version -> version.resolve("bin")).forEach(folders::add);
      } catch (IOException failed) {
        throw new UncheckedIOException(failed);
      }
    }
    for (var folder : System.getenv().getOrDefault("PATH", "").split(":", -1)) {
      folders.add(Path.of(folder));
    }
    return folders.stream()
        .filter(PostgresPair::canReplicate)
        .max(Comparator.comparingInt(PostgresPair::version));
  }

  private static int version(Path programs) {
    var parent = programs.getParent();
    var name = parent == null ? "" : String.valueOf(parent.getFileName());
    return name.matches("\\d{1,4}") ? Integer.parseInt(name) : 0;
  }

  private static boolean canReplicate(Path programs) {
    return Files.isExecutable(programs.resolve("pg_basebackup"))
        && Files.isExecutable(programs.resolve("initdb"));
  }

  /// The programs that the PostgreSQL of other tests was started from.
  private static Path programsOfMaven() {
    TestPostgres.createDatabase();
    return ProcessHandle.allProcesses()
        .flatMap(process -> process.info().command().stream())
        .filter(command -> command.endsWith("/bin/postgres"))
        .map(command -> Path.of(command).getParent())
        .findFirst()
        .orElseThrow();
  }

  private void initialize() {
    var first = members[0];
    run(
        "initdb",
        "-D",
        first.data.toString(),
        "-U",
        "postgres",
        "-A",
        "trust",
        "-E",
        "UTF8",
        "--no-locale",
        "--no-sync",
        "--wal-segsize=1");
    var settings = new ArrayList<>(SETTINGS);
    if (replicated) {
      settings.add("synchronous_standby_names = '*'");
    }
    try {
      Files.write(first.data.resolve("postgresql.conf"), settings, StandardOpenOption.APPEND);
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
    start(first);
    rebuildStandby();
    awaitCommit();
  }

  /// True if there is a standby.
  boolean replicated() {
    return replicated;
  }

  /// The ports of both servers, in an order that never changes; or that of the only one.
  List<Integer> ports() {
    return replicated ? List.of(members[0].port, members[1].port) : List.of(members[0].port);
  }

  /// What `postgres --version` prints.
  String version() {
    return run("postgres", "--version").strip();
  }

  /// Stops the primary as a crash does, and starts it again.
  void restartPrimary() {
    stop(members[primary]);
    start(members[primary]);
  }

  /// Stops the standby as a crash does. Commits wait until it is back.
  void stopStandby() {
    stop(members[1 - primary]);
  }

  /// Starts the standby again.
  void startStandby() {
    start(members[1 - primary]);
  }

  /// Stops the primary as a crash does and makes the standby the primary. There is no standby, and
  /// commits wait, until [#rebuildStandby].
  void promote() {
    stop(members[primary]);
    primary = 1 - primary;
    if (members[primary].process == null) {
      start(members[primary]);
    }
    run("pg_ctl", "promote", "-w", "-D", members[primary].data.toString());
  }

  /// Makes a new standby from the primary.
  void rebuildStandby() {
    if (!replicated) {
      return;
    }
    var standby = members[1 - primary];
    delete(standby.data);
    run(
        "pg_basebackup",
        "-h",
        "127.0.0.1",
        "-p",
        Integer.toString(members[primary].port),
        "-U",
        "postgres",
        "-D",
        standby.data.toString(),
        "-R",
        "-X",
        "stream",
        "-c",
        "fast",
        "--no-sync");
    start(standby);
  }

  /// Connects to the primary, not through a network that can fail.
  Connection connect() throws SQLException {
    var address = "jdbc:postgresql://127.0.0.1:" + members[primary].port + "/postgres";
    return DriverManager.getConnection(address, "postgres", "");
  }

  /// Ends the wait of all commits for the standby, which they then do not have.
  void cancelCommits() {
    try (var connection = connect();
        var statement = connection.createStatement()) {
      statement.execute(
          "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'");
    } catch (SQLException failed) {
      throw new IllegalStateException("the commits cannot be canceled", failed);
    }
  }

  /// Waits until a commit is possible, on the standby too.
  void awaitCommit() {
    try (var connection = connect();
        var statement = connection.createStatement()) {
      statement.setQueryTimeout(PATIENCE_SECONDS);
      // It has a transaction id, so its end is a commit that the standby confirms.
      statement.execute("SELECT txid_current()");
    } catch (SQLException failed) {
      throw new IllegalStateException("PostgreSQL does not commit", failed);
    }
  }

  private void start(PostgresMember member) {
    var command = new ArrayList<String>();
    // The server ends when the standard input of this shell does: with the test, even if that is
    // killed.
    command.addAll(
        command("sh", "-c", "\"$@\" & child=$!; read -r _; kill -QUIT $child; wait $child", "sh"));
    command.addAll(
        List.of(
            programs.resolve("postgres").toString(),
            "-D",
            member.data.toString(),
            "-p",
            Integer.toString(member.port)));
    try {
      var process = new ProcessBuilder(command).redirectErrorStream(true).start();
      member.process = process;
      var ready = new CountDownLatch(1);
      Thread.ofPlatform().daemon().start(() -> log(member, process.inputReader(), ready));
      if (!ready.await(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
        throw new IllegalStateException("PostgreSQL does not start; see " + member.data + ".log");
      }
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(interrupted);
    }
  }

  private static void log(PostgresMember member, BufferedReader lines, CountDownLatch ready) {
    try (lines;
        var log =
            Files.newBufferedWriter(
                Path.of(member.data + ".log"),
                StandardOpenOption.CREATE,
                StandardOpenOption.APPEND)) {
      for (var line = lines.readLine(); line != null; line = lines.readLine()) {
        log.append(line).append('\n').flush();
        if (line.contains("ready to accept")) {
          ready.countDown();
        }
      }
    } catch (IOException gone) {
      // It was stopped.
    }
  }

  /// Stops a server at once, without a checkpoint. It recovers when it starts again.
  private static void stop(PostgresMember member) {
    var process = member.process;
    if (process == null) {
      return;
    }
    member.process = null;
    try {
      process.getOutputStream().close();
      if (!process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
        throw new IllegalStateException("PostgreSQL does not stop");
      }
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(interrupted);
    }
  }

  /// PostgreSQL refuses to run as root, but root may become a user without a name.
  private static List<String> command(String... command) {
    var all = new ArrayList<String>();
    if ("root".equals(System.getProperty("user.name"))) {
      all.addAll(List.of("unshare", "-U"));
    }
    all.addAll(List.of(command));
    return all;
  }

  private String run(String program, String... arguments) {
    var command = command(programs.resolve(program).toString());
    command.addAll(List.of(arguments));
    try {
      var process = new ProcessBuilder(command).redirectErrorStream(true).start();
      process.getOutputStream().close();
      var output = new String(process.getInputStream().readAllBytes(), UTF_8);
      if (process.waitFor() != 0) {
        throw new IllegalStateException(String.join(" ", command) + " failed: " + output);
      }
      return output;
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(interrupted);
    }
  }

  private static void delete(Path folder) {
    if (!Files.exists(folder)) {
      return;
    }
    try (var files = Files.walk(folder)) {
      for (var file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(file);
      }
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }

  @Override
  public void close() {
    for (var member : members) {
      stop(member);
    }
  }
}
