package dev.parley.app;

import dev.parley.client.ClientSettings;
import java.net.URI;
import java.nio.file.Path;
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
      "Contacts every model, MCP server and remote agent; each model gets one very short request."
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
    systemCheck.approvals();
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
}
