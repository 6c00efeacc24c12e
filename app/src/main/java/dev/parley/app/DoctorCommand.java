package dev.parley.app;

import dev.parley.client.ClientSettings;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/// `parley doctor`.
@Command(
    name = "doctor",
    mixinStandardHelpOptions = true,
    description = "Checks that a server can run here, or runs well, and says what to do if not.",
    footer = {"", "Exit codes: 0 nothing is broken, 1 something is"})
final class DoctorCommand implements Callable<Integer> {

  private final Terminal terminal;

  @Mixin private final ServerOptions server = new ServerOptions();

  @Option(names = "--port", paramLabel = "PORT", description = "The port to check. Default: 7070.")
  private int port = 7070;

  @Option(names = "--config", paramLabel = "FILE", description = "The configuration to check.")
  private @Nullable Path config;

  DoctorCommand(Terminal terminal) {
    this.terminal = terminal;
  }

  @Override
  public Integer call() {
    var data = server.dataFolder(terminal).toAbsolutePath().normalize();
    var checkup = new Checkup(terminal, data);
    var running = ServerFile.read(data);
    checkup.java();
    checkup.dataFolder(running);
    checkup.sqlite();
    checkup.config(config);
    checkup.programs(config);
    checkup.approvals();
    if (!checkServer(checkup)) {
      checkup.port(port);
    }
    return checkup.failed() ? Exit.FAILED : 0;
  }

  /// True if a server answers.
  private boolean checkServer(Checkup checkup) {
    ClientSettings settings;
    try {
      settings = server.settings(terminal);
    } catch (Exit none) {
      if (none.code() != Exit.NO_SERVER) {
        throw none;
      }
      checkup.noServer(none.getMessage());
      return false;
    }
    return checkup.server(settings);
  }
}
