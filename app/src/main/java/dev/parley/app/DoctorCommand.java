package dev.parley.app;

import dev.parley.client.ClientSettings;
import dev.parley.server.Config;
import java.net.URI;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/// `parley doctor`.
@Command(
    name = "doctor",
    mixinStandardHelpOptions = true,
    description = {
      "Checks whether a server can run here with this configuration, and how to fix problems.",
      "Contacts every model, MCP server and remote agent; each model gets one very short request.",
      "With --db, also checks the database that several servers share. Changes nothing there."
    },
    footer = {"", "Exit codes: 0 no problems found, 1 problems found"})
final class DoctorCommand implements Callable<Integer> {

  /// A constant, because a logger without references is collected and loses its level.
  private static final Logger MCP = Logger.getLogger("dev.parley.mcp");

  private static final Logger LOG = Logger.getLogger("dev.parley.log");

  private final Terminal terminal;

  @Mixin private final ServerOptions server = new ServerOptions();

  @Option(names = "--port", paramLabel = "PORT", description = "The port to check. Default: 7070.")
  private int port = 7070;

  @Option(
      names = "--config",
      paramLabel = "FILE",
      description =
          "The configuration to check. Default: that of the server that runs on the data folder.")
  private @Nullable Path config;

  @Mixin private final DatabaseOption database = new DatabaseOption();

  @Option(
      names = "--offline",
      description = "Contact no models, MCP servers and remote agents, and start no programs.")
  private boolean offline;

  DoctorCommand(Terminal terminal) {
    this.terminal = terminal;
  }

  @Override
  public Integer call() throws InterruptedException {
    ServeOptions.checkPort(port);
    var address = database.find(terminal);
    var data = server.dataFolder(terminal).toAbsolutePath().normalize();
    var systemCheck = new SystemCheck(terminal, data);
    var running = ServerFile.read(data);
    systemCheck.java();
    systemCheck.dataFolder(running);
    systemCheck.sqlite();
    // The findings contain what these would log.
    MCP.setLevel(Level.SEVERE);
    LOG.setLevel(Level.OFF);
    var checked = CheckedConfig.of(config, running);
    var read = systemCheck.config(checked);
    systemCheck.files(read);
    address.ifPresent(shared -> systemCheck.database(shared, read));
    systemCheck.approvals();
    read.ifPresent(systemCheck::isolation);
    if (!checkServer(systemCheck, running)) {
      systemCheck.port(port);
    }
    if (read.isPresent()) {
      systemCheck.programs(read.get(), checked.file() == null, offline);
      if (offline) {
        systemCheck.notContacted(read.get());
      } else {
        systemCheck.contacts(read.get());
      }
    }
    systemCheck.summary();
    return systemCheck.failed() ? CommandExit.FAILED : 0;
  }

  /// True if a server answers.
  private boolean checkServer(SystemCheck systemCheck, Optional<ServerFile> running) {
    ClientSettings settings;
    try {
      settings = server.settings(terminal);
    } catch (CommandExit none) {
      if (none.code() != CommandExit.NO_SERVER) {
        throw none;
      }
      systemCheck.noServer(none.getMessage());
      return false;
    }
    if (!systemCheck.server(settings)) {
      return false;
    }
    var sameServer = running.map(file -> settings.url().equals(URI.create(file.url())));
    if (config == null && !sameServer.orElse(false)) {
      systemCheck.unknownConfig(settings.url());
    }
    return true;
  }

  /// The configuration that `parley doctor` checks.
  ///
  /// @param file null for the defaults
  /// @param folder the folder that relative paths in the file start from
  /// @param known false if a server runs, and its configuration may be another one
  /// @param origin what the file is, or why there is none
  record CheckedConfig(@Nullable Path file, Path folder, boolean known, String origin) {

    /// The file `given` or else the file of the running server.
    static CheckedConfig of(@Nullable Path given, Optional<ServerFile> running) {
      var here = Path.of("").toAbsolutePath();
      if (given != null) {
        return new CheckedConfig(given, here, true, given + " has no errors");
      }
      if (running.isEmpty()) {
        return new CheckedConfig(null, here, true, "none; all defaults apply");
      }
      var config = running.get().config();
      var folder = running.get().workingDirectory();
      if (config == null || folder == null) {
        return new CheckedConfig(
            null,
            here,
            false,
            "not known: the running server does not report its configuration file; pass it with"
                + " --config. The following checks assume the defaults");
      }
      if (config.isEmpty()) {
        return new CheckedConfig(
            null, Path.of(folder), true, "none; the running server uses the defaults");
      }
      return new CheckedConfig(
          Path.of(config), Path.of(folder), true, config + " of the running server has no errors");
    }

    /// Reads the configuration.
    ///
    /// @throws CommandExit if it has errors
    Config load(Map<String, String> environment) {
      return LocalServer.load(file, environment, folder);
    }
  }
}
