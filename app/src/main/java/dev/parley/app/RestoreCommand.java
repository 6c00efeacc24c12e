package dev.parley.app;

import dev.parley.server.Backup;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/// `parley restore`.
@Command(
    name = "restore",
    mixinStandardHelpOptions = true,
    description = {
      "Checks a backup and copies it into a data folder, which must be empty or missing.",
      "Start a server on the folder afterwards; it rebuilds its views."
    })
final class RestoreCommand implements Callable<Integer> {

  private final Terminal terminal;

  @Parameters(paramLabel = "BACKUP", description = "The folder that `parley backup` created.")
  private Path backup = Path.of("");

  @Option(
      names = "--data",
      paramLabel = "DIR",
      description = "The data folder to create. Default: PARLEY_DATA, else ~/.parley.")
  private @Nullable Path data;

  RestoreCommand(Terminal terminal) {
    this.terminal = terminal;
  }

  @Override
  public Integer call() {
    var to = ServerOptions.dataFolder(data, terminal).toAbsolutePath().normalize();
    var size = Backup.restore(backup.toAbsolutePath().normalize(), to);
    terminal.out().println("Restored " + backup + " to " + to + ", " + HumanUnits.size(size));
    return 0;
  }
}
