package dev.parley.app;

import dev.parley.log.EncryptionMigration;
import dev.parley.log.KeyCopy;
import dev.parley.log.KeyCopy.RestoredKeys;
import dev.parley.log.LogEncryption;
import dev.parley.log.PostgresDatabase;
import dev.parley.protocol.EncryptionView;
import dev.parley.protocol.Json;
import dev.parley.server.Config;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/// `parley encryption`.
@Command(
    name = "encryption",
    mixinStandardHelpOptions = true,
    description = {
      "Shows whether the contexts of a server are encrypted, and manages their keys.",
      "status and rotate ask the server; the other actions use the data folder, or the database that",
      "--db names."
    },
    footer = {
      "",
      "Examples:",
      "  parley encryption                       how many contexts are encrypted",
      "  parley encryption rotate                wrap all keys with the current master key",
      "  parley encryption save-keys FILE        copy the wrapped keys, also while a server runs",
      "  parley encryption restore-keys FILE     use them with a backup that was restored",
      "  parley encryption migrate --config parley.yaml",
      "                                          encrypt contexts that are not",
      "",
      "restore-keys and migrate need a data folder or database that no server uses."
    })
final class EncryptionCommand implements Callable<Integer> {

  private static final int REPORT_EVERY = 1_000;

  private final Terminal terminal;

  @Mixin private final ServerOptions server = new ServerOptions();
  @Mixin private final DatabaseOption database = new DatabaseOption();

  @Option(names = "--json", description = "Print the status as one JSON object.")
  private boolean json;

  @Option(
      names = "--config",
      paramLabel = "FILE",
      description = "For migrate: the configuration with the master key.")
  private @Nullable Path config;

  @Parameters(
      index = "0",
      arity = "0..1",
      paramLabel = "ACTION",
      description = "status (default), rotate, save-keys, restore-keys or migrate.")
  private String action = "status";

  @Parameters(
      index = "1",
      arity = "0..1",
      paramLabel = "FILE",
      description = "The copy of the keys to write or to read.")
  private @Nullable Path file;

  EncryptionCommand(Terminal terminal) {
    this.terminal = terminal;
  }

  @Override
  public Integer call() {
    switch (action) {
      case "status" -> status();
      case "rotate" -> rotate();
      case "save-keys" -> saveKeys(named());
      case "restore-keys" -> restoreKeys(named());
      case "migrate" -> migrate();
      default ->
          throw new CommandExit(
              CommandExit.USAGE,
              "Unknown action "
                  + TextSanitizer.line(action, REPORT_EVERY)
                  + "; there are status, rotate, save-keys, restore-keys and migrate");
    }
    return 0;
  }

  private Path named() {
    if (file == null) {
      throw new CommandExit(
          CommandExit.USAGE, "Name the file: parley encryption %s FILE".formatted(action));
    }
    return file.toAbsolutePath().normalize();
  }

  private void status() {
    try (var client = server.client(terminal)) {
      print(client.encryption());
    }
  }

  private void rotate() {
    try (var client = server.client(terminal)) {
      print(client.rotateKeys());
    }
  }

  private void print(EncryptionView view) {
    if (json) {
      terminal.out().println(new String(Json.bytes(view), StandardCharsets.UTF_8));
      return;
    }
    terminal.out().println(text(view));
  }

  static String text(EncryptionView view) {
    var keys =
        view.rotating()
            ? "being wrapped again; run parley encryption to see when this has ended"
            : view.failed() > 0
                ? "%d are damaged and could not be wrapped again".formatted(view.failed())
                : "all are wrapped with the current wrapping key";
    var contexts =
        "%-11s%s%n%-11s%d encrypted, %d not"
            .formatted(
                "Encryption",
                view.on() ? "on" : "off",
                "Contexts",
                view.encrypted(),
                view.unencrypted());
    return view.on() ? contexts + "%n%-11s%s".formatted("Keys", keys) : contexts;
  }

  private Path folder() {
    return server.dataFolder(terminal).toAbsolutePath().normalize();
  }

  private void saveKeys(Path target) {
    var shared = database.find(terminal);
    var count =
        shared.isPresent()
            ? KeyCopy.save(new PostgresDatabase(shared.get()), target)
            : KeyCopy.save(folder(), target);
    terminal.out().println("Copied the keys of " + count + " contexts to " + target);
  }

  private void restoreKeys(Path copy) {
    var shared = database.find(terminal);
    RestoredKeys restored =
        shared.isPresent()
            ? KeyCopy.restore(copy, new PostgresDatabase(shared.get()))
            : KeyCopy.restore(copy, folder());
    terminal
        .out()
        .printf(
            "Restored the keys of %d contexts; %d contexts were deleted since the backup and stay"
                + " deleted%n",
            restored.replaced(), restored.deleted());
  }

  private void migrate() {
    var encryption = encryption();
    LongConsumer progress =
        count -> {
          if (count % REPORT_EVERY == 0 && count > 0) {
            terminal.err().println(count + " contexts are encrypted");
          }
        };
    var shared = database.find(terminal);
    var count =
        shared.isPresent()
            ? EncryptionMigration.encrypt(new PostgresDatabase(shared.get()), encryption, progress)
            : EncryptionMigration.encrypt(folder(), encryption, progress);
    terminal.out().println("Encrypted " + count + " contexts");
  }

  private LogEncryption encryption() {
    if (config == null) {
      throw new CommandExit(
          CommandExit.USAGE, "Name the configuration with the master key: --config FILE");
    }
    var read = Config.load(config, Config.ProcessEnvironment.ofProcess());
    if (!read.encryption().isOn()) {
      throw new CommandExit(
          CommandExit.FAILED, "Encryption is off: set encryption.masterKey in " + config);
    }
    return read.encryption().forLog();
  }
}
