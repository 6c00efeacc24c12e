package dev.parley.app;

import dev.parley.app.DoctorCommand.CheckedConfig;
import dev.parley.app.Terminal.TextStyle;
import dev.parley.client.BadAnswer;
import dev.parley.client.ClientSettings;
import dev.parley.client.ParleyClient;
import dev.parley.client.Unreachable;
import dev.parley.external.cli.CliProgram;
import dev.parley.external.cli.CliSettings;
import dev.parley.log.PostgresAddress;
import dev.parley.protocol.Rejection;
import dev.parley.server.AgentConfig.AgentKind;
import dev.parley.server.Config;
import dev.parley.server.DataFolderDiagnosis;
import dev.parley.server.DatabaseDiagnosis;
import dev.parley.server.Diagnosis;
import dev.parley.server.EncryptionDiagnosis;
import dev.parley.server.IsolationDiagnosis;
import dev.parley.server.ParleyVersion;
import dev.parley.tool.process.ClientProcessCheck;
import java.io.File;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/// Checks the machine, the configuration and the server, and prints one line for each check.
final class SystemCheck {

  private static final int JAVA_MIN = 25;
  private static final long FREE_LOW = 1L << 30;
  private static final long FREE_TOO_LOW = 50L << 20;
  private static final int SYNCS = 20;
  private static final double SYNC_SLOW_MILLIS = 20;

  private final Terminal terminal;
  private final TextStyle textStyle;
  private final Path data;
  private int failures;
  private int warnings;
  private int skipped;

  SystemCheck(Terminal terminal, Path data) {
    this.terminal = terminal;
    this.textStyle = terminal.outStyle();
    this.data = data;
  }

  boolean failed() {
    return failures > 0;
  }

  void java() {
    var version = Runtime.version();
    if (version.feature() >= JAVA_MIN) {
      ok("Java", version.toString());
    } else {
      fail("Java", version + ": install a JDK " + JAVA_MIN + " and set JAVA_HOME");
    }
    ok("Parley", ParleyVersion.text());
  }

  void dataFolder(Optional<ServerFile> running) {
    if (!Files.exists(data)) {
      var parent = existing(data);
      if (Files.isDirectory(parent) && Files.isWritable(parent)) {
        ok("data folder", data + " will be created at the first start");
      } else {
        fail("data folder", data + " cannot be created: " + parent + " is not writable");
      }
      return;
    }
    if (!Files.isDirectory(data)) {
      fail("data folder", data + " is not a folder: choose another with --data");
      return;
    }
    try {
      var probe = Files.createTempFile(data, ".doctor", ".tmp");
      try {
        sync(probe);
      } finally {
        Files.deleteIfExists(probe);
      }
      space();
    } catch (IOException unwritable) {
      fail("data folder", "cannot write to " + data + ": choose another with --data, or chmod it");
    }
    running.ifPresent(
        file -> ok("data folder", "in use by process " + file.pid() + " (" + file.url() + ")"));
  }

  private static Path existing(Path missing) {
    var path = missing;
    while (!Files.exists(path) && path.getParent() != null) {
      path = path.getParent();
    }
    return path;
  }

  private void sync(Path probe) throws IOException {
    try (var channel = FileChannel.open(probe, StandardOpenOption.WRITE)) {
      var start = System.nanoTime();
      for (var i = 0; i < SYNCS; i++) {
        channel.write(ByteBuffer.wrap(new byte[512]));
        channel.force(false);
      }
      var millis = (System.nanoTime() - start) / 1e6 / SYNCS;
      var text = String.format(Locale.ROOT, "%.2f ms per fsync", millis);
      if (millis > SYNC_SLOW_MILLIS) {
        warn("disk", text + ": every message waits for an fsync; use a local SSD");
      } else {
        ok("disk", text);
      }
    }
  }

  private void space() throws IOException {
    var free = Files.getFileStore(data).getUsableSpace();
    var text = data + ", " + HumanUnits.size(free) + " free";
    if (free < FREE_TOO_LOW) {
      fail("data folder", text + ": free some space, or choose another folder with --data");
    } else if (free < FREE_LOW) {
      warn("data folder", text + ": free some space soon");
    } else {
      ok("data folder", text);
    }
  }

  void sqlite() {
    try (var connection = DriverManager.getConnection("jdbc:sqlite::memory:");
        var statement = connection.createStatement();
        var result = statement.executeQuery("SELECT sqlite_version()")) {
      result.next();
      ok("SQLite", result.getString(1));
    } catch (SQLException missing) {
      fail("SQLite", missing.getMessage() + ": is this a supported system?");
    }
  }

  /// Checks that a server can open the files of the data folder. Without a configuration, the vault
  /// is not checked.
  void files(Optional<Config> config) throws InterruptedException {
    var vault = config.map(Config::vault).orElse(null);
    for (var diagnosisCheck : new DataFolderDiagnosis(data, vault).checks()) {
      report(diagnosisCheck.subject(), diagnosisCheck.finding());
    }
    config
        .flatMap(read -> EncryptionDiagnosis.ofFolder(data, read.encryption()))
        .ifPresent(finding -> report("encryption", finding));
  }

  /// Checks the database that servers share. Without a configuration, the vault is not checked.
  void database(PostgresAddress address, Optional<Config> config) {
    var vault = config.map(Config::vault).orElse(null);
    for (var found : DatabaseDiagnosis.check(address, vault)) {
      report(found.subject(), found.finding());
    }
    config
        .flatMap(read -> EncryptionDiagnosis.ofDatabase(address, read.encryption()))
        .ifPresent(finding -> report("encryption", finding));
  }

  /// The configuration, if it has no errors.
  Optional<Config> config(CheckedConfig config) {
    try {
      var read = config.load(terminal.environment());
      if (config.known()) {
        ok("configuration", config.origin());
      } else {
        warn("configuration", config.origin());
      }
      return Optional.of(read);
    } catch (CommandExit wrong) {
      String.valueOf(wrong.getMessage()).lines().forEach(line -> fail("configuration", line));
      return Optional.empty();
    }
  }

  /// Checks the command-line agents that are configured or, without a configuration, found on the
  /// `PATH`.
  void programs(Config config, boolean defaults, boolean offline) {
    var none = true;
    for (var agent : config.agents()) {
      if (agent.kind() instanceof AgentKind.Cli(var settings)) {
        program("agent " + agent.id().value(), settings, offline);
        none = false;
      }
    }
    if (none && defaults) {
      ok("programs", "no claude, codex or gemini on the PATH; none is needed");
    }
  }

  /// Contacts models, MCP servers and remote agents, one after the other.
  void contacts(Config config) throws InterruptedException {
    for (var diagnosisCheck : new Diagnosis(config).checks()) {
      terminal
          .err()
          .println(
              TextSanitizer.text(
                  "Checking %s (%s), for at most %d s ..."
                      .formatted(
                          diagnosisCheck.subject(),
                          diagnosisCheck.target(),
                          Diagnosis.PATIENCE.toSeconds())));
      terminal.err().flush();
      report(diagnosisCheck.subject(), diagnosisCheck.finding());
    }
  }

  private void report(String subject, Diagnosis.DiagnosisFinding diagnosisFinding) {
    switch (diagnosisFinding.grade()) {
      case OK -> ok(subject, diagnosisFinding.text());
      case WARNING -> warn(subject, diagnosisFinding.text());
      case FAILURE -> fail(subject, diagnosisFinding.text());
    }
  }

  void notContacted(Config config) {
    for (var diagnosisCheck : new Diagnosis(config).checks()) {
      print(
          textStyle.dim("skip"),
          diagnosisCheck.subject(),
          diagnosisCheck.target() + " is not contacted: --offline");
      skipped++;
    }
  }

  /// Prints the numbers of problems, warnings and skipped checks.
  void summary() {
    var counts = new ArrayList<String>();
    counts.add(failures == 0 ? "No problems found" : number(failures, "problem") + " found");
    if (warnings > 0) {
      counts.add(number(warnings, "warning"));
    }
    if (skipped > 0) {
      counts.add(number(skipped, "check") + " skipped");
    }
    terminal.out().println(String.join(", ", counts) + ".");
  }

  private static String number(int count, String what) {
    return count + " " + what + (count == 1 ? "" : "s");
  }

  private void program(String agent, CliSettings settings, boolean offline) {
    var check = new ProgramCheck(settings);
    var file = check.find().orElse(null);
    if (file == null) {
      fail(
          agent,
          "there is no program "
              + settings.command().getFirst()
              + ": install it, or set agents[].command");
    } else if (offline || settings.program() == CliProgram.JSONL) {
      ok(agent, file.toString());
    } else {
      check
          .version()
          .ifPresentOrElse(
              version -> ok(agent, file + ", " + version),
              () -> warn(agent, file + " does not report its version: does it start in a shell?"));
    }
  }

  /// Checks whether this system can identify the process that sends a request.
  void approvals() {
    if (ClientProcessCheck.supported()) {
      ok("approvals", "requests from processes of agents are recognized: only people can approve");
    } else {
      warn(
          "approvals",
          "this system cannot identify the process that sends a request: set approvals.mode to"
              + " strict");
    }
  }

  /// Checks how this machine can isolate the programs that agents run.
  void isolation(Config config) {
    report("isolation", IsolationDiagnosis.check(config));
  }

  /// True if a server answers.
  boolean server(ClientSettings settings) {
    try (var client = new ParleyClient(settings)) {
      var health = client.health();
      client.agentTypes();
      var version = health.path("version").asString("");
      ok(
          "server",
          settings.url() + " is healthy" + (version.isEmpty() ? "" : ", version " + version));
      return true;
    } catch (Unreachable unreachable) {
      warn("server", "none at " + settings.url() + ": start one with ./parley");
      return false;
    } catch (Rejection.Unauthorized unauthorized) {
      fail("server", settings.url() + " requires a token: give one with --token or PARLEY_TOKEN");
      return true;
    } catch (Rejection | BadAnswer wrong) {
      fail("server", settings.url() + ": " + wrong.getMessage());
      return true;
    }
  }

  void unknownConfig(URI url) {
    warn(
        "configuration",
        "that of the server at " + url + " is not known: pass its file with --config");
  }

  void noServer(@Nullable String reason) {
    warn("server", String.valueOf(reason));
  }

  void port(int port) {
    try (var socket = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
      ok("port", socket.getLocalPort() + " is free");
    } catch (IOException taken) {
      fail("port", port + " is in use by another program: choose another port with --port");
    }
  }

  private void ok(String what, String text) {
    print(textStyle.green("ok  "), what, text);
  }

  private void warn(String what, String text) {
    warnings++;
    print(textStyle.yellow("warn"), what, text);
  }

  private void fail(String what, @Nullable String text) {
    failures++;
    print(textStyle.red("fail"), what, String.valueOf(text));
  }

  private void print(String mark, String what, String text) {
    terminal.out().println("%s  %-13s  %s".formatted(mark, what, TextSanitizer.text(text)));
  }

  /// Finds the program of a command-line agent and reads its version.
  static final class ProgramCheck {

    private static final Duration PATIENCE = Duration.ofSeconds(20);
    private static final int SHOWN_MAX = 80;

    private final CliSettings settings;

    ProgramCheck(CliSettings settings) {
      this.settings = settings;
    }

    /// The file of the program, if it exists.
    Optional<Path> find() {
      return settings.file();
    }

    /// The version that the program reports. Unknown programs are not started: they might do
    /// something else than print a version.
    Optional<String> version() {
      if (settings.program() == CliProgram.JSONL) {
        return Optional.empty();
      }
      var words = new ArrayList<>(settings.command());
      words.add("--version");
      try {
        return firstLine(words);
      } catch (IOException unstartable) {
        return Optional.empty();
      } catch (InterruptedException told) {
        Thread.currentThread().interrupt();
        return Optional.empty();
      }
    }

    private Optional<String> firstLine(List<String> words)
        throws IOException, InterruptedException {
      var said = Files.createTempFile("parley-doctor", ".txt");
      try {
        var builder = new ProcessBuilder(words);
        builder.environment().clear();
        builder.environment().putAll(settings.environment());
        builder.redirectInput(new File("/dev/null")).redirectOutput(said.toFile());
        builder.redirectError(ProcessBuilder.Redirect.DISCARD);
        var process = builder.start();
        if (!process.waitFor(PATIENCE.toMillis(), TimeUnit.MILLISECONDS)) {
          process.descendants().forEach(ProcessHandle::destroyForcibly);
          process.destroyForcibly();
          return Optional.empty();
        }
        return new String(Files.readAllBytes(said), StandardCharsets.UTF_8)
            .lines()
            .map(String::strip)
            .filter(line -> process.exitValue() == 0 && !line.isEmpty())
            .map(line -> line.length() <= SHOWN_MAX ? line : line.substring(0, SHOWN_MAX))
            .findFirst();
      } finally {
        Files.deleteIfExists(said);
      }
    }
  }
}
