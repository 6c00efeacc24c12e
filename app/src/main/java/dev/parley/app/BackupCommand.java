package dev.parley.app;

import dev.parley.server.Backup;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/// `parley backup`.
@Command(
    name = "backup",
    mixinStandardHelpOptions = true,
    description = {
      "Copies a data folder to a new folder, even while a server uses it.",
      "The copy contains everything that was acknowledged before the command started. It includes",
      "messages and credentials; only its owner can read it."
    },
    footer = {
      "",
      "Examples:",
      "  parley backup /backups/parley-2026-11-16",
      "  parley restore /backups/parley-2026-11-16 --data /var/lib/parley"
    })
final class BackupCommand implements Callable<Integer> {

  private final Terminal terminal;

  @Parameters(paramLabel = "FOLDER", description = "The folder to create. It must not exist.")
  private Path target = Path.of("");

  @Option(
      names = "--data",
      paramLabel = "DIR",
      description = "The data folder to copy. Default: PARLEY_DATA, else ~/.parley.")
  private @Nullable Path data;

  BackupCommand(Terminal terminal) {
    this.terminal = terminal;
  }

  @Override
  public Integer call() {
    var from = ServerOptions.dataFolder(data, terminal).toAbsolutePath().normalize();
    var size = Backup.create(from, target.toAbsolutePath().normalize());
    terminal.out().println("Copied " + from + " to " + target + ", " + HumanUnits.size(size));
    return 0;
  }
}
