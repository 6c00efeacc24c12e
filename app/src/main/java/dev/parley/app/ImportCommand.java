package dev.parley.app;

import dev.parley.log.LogTransfer;
import dev.parley.log.PostgresDatabase;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/// `parley import`.
@Command(
    name = "import",
    mixinStandardHelpOptions = true,
    description = {
      "Copies the log of a data folder into a PostgreSQL database that has none yet.",
      "All contexts, ids and numbers of events stay the same. Stop the server of the folder first.",
      "Credentials and webhooks are not copied: users sign in again."
    },
    footer = {
      "",
      "Example:",
      "  parley import --from ~/.parley --db postgresql://parley@db.example.org/parley",
      "",
      "The way back: parley export --all --db URL --to DIR"
    })
final class ImportCommand implements Callable<Integer> {

  private final Terminal terminal;

  @Mixin private final DatabaseOption database = new DatabaseOption();

  @Option(
      names = "--from",
      paramLabel = "DIR",
      description = "The data folder to copy. Default: PARLEY_DATA, else ~/.parley.")
  private @Nullable Path from;

  ImportCommand(Terminal terminal) {
    this.terminal = terminal;
  }

  @Override
  public Integer call() {
    var folder = ServerOptions.dataFolder(from, terminal).toAbsolutePath().normalize();
    var address = database.required(terminal);
    var copied =
        LogTransfer.toDatabase(
            folder, new PostgresDatabase(address), new TransferProgress(terminal));
    terminal
        .out()
        .printf(
            "Copied %d contexts, %s, from %s to %s%n",
            copied.contexts(), HumanUnits.size(copied.bytes()), folder, address);
    return 0;
  }
}
