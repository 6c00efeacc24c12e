package dev.parley.app;

import dev.parley.log.LogTransfer;
import dev.parley.log.PostgresDatabase;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/// `parley export`.
@Command(
    name = "export",
    mixinStandardHelpOptions = true,
    description = "Exports a context, or the whole log of a PostgreSQL database.",
    footer = {
      "",
      "Formats: json is one object {context, events}, jsonl one event per line, md a transcript.",
      "json and md leave out text that was deleted or edited; jsonl is the unchanged log.",
      "",
      "Examples:",
      "  parley export CONTEXT --format md --output talk.md",
      "  parley export CONTEXT --format jsonl | jq .kind",
      "  parley export --all --db postgresql://parley@db.example.org/parley --to /backups/parley"
    })
final class ExportCommand implements Callable<Integer> {

  private final Terminal terminal;

  @Mixin private final ServerOptions server = new ServerOptions();

  @Mixin private final ContextArgument context = new ContextArgument();

  @Option(names = "--format", description = "json, jsonl or md. Default: json.")
  private Format format = Format.json;

  @Option(
      names = "--output",
      paramLabel = "FILE",
      description = "The file to write. Default: standard output.")
  private @Nullable Path output;

  @Option(
      names = "--all",
      description =
          "Copy the whole log of the database --db into a new data folder, which a server without"
              + " --db can use. Credentials and webhooks are not copied.")
  private boolean all;

  @Mixin private final DatabaseOption database = new DatabaseOption();

  @Option(names = "--to", paramLabel = "DIR", description = "The data folder that --all creates.")
  private @Nullable Path to;

  /// The format of an export.
  enum Format {
    json,
    jsonl,
    md
  }

  ExportCommand(Terminal terminal) {
    this.terminal = terminal;
  }

  @Override
  public Integer call() throws IOException {
    if (all) {
      exportAll();
      return 0;
    }
    if (to != null) {
      throw new CommandExit(CommandExit.USAGE, "--to needs --all");
    }
    if (output == null) {
      write(terminal.out());
      return 0;
    }
    // An incomplete export must not look like a complete one.
    var file = output.toAbsolutePath();
    var folder = file.getParent();
    if (folder == null || !Files.isDirectory(folder)) {
      throw new CommandExit(CommandExit.USAGE, "The folder does not exist: " + output);
    }
    var part = Files.createTempFile(folder, ".parley-export", ".part");
    try {
      try (var out = new BufferedOutputStream(Files.newOutputStream(part))) {
        write(out);
      }
      Files.move(part, file, StandardCopyOption.REPLACE_EXISTING);
    } finally {
      Files.deleteIfExists(part);
    }
    return 0;
  }

  private void exportAll() {
    if (to == null) {
      throw new CommandExit(CommandExit.USAGE, "Name the new data folder with --to DIR");
    }
    var folder = to.toAbsolutePath().normalize();
    var address = database.required(terminal);
    var copied =
        LogTransfer.toFolder(new PostgresDatabase(address), folder, new TransferProgress(terminal));
    terminal
        .out()
        .printf(
            "Copied %d contexts, %s, from %s to %s%n",
            copied.contexts(), HumanUnits.size(copied.bytes()), address, folder);
  }

  private void write(OutputStream out) throws IOException {
    try (var client = server.client(terminal)) {
      var contextExport = new ContextExport(client, context.find(client), out);
      switch (format) {
        case json -> contextExport.json();
        case jsonl -> contextExport.jsonLines();
        case md -> contextExport.markdown();
      }
      out.flush();
    }
  }
}
