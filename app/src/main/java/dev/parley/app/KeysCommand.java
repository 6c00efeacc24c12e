package dev.parley.app;

import dev.parley.client.ParleyClient;
import dev.parley.protocol.Identity.KeyView;
import dev.parley.protocol.Identity.NewKey;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/// `parley keys`.
@Command(
    name = "keys",
    mixinStandardHelpOptions = true,
    description = {
      "Lists, creates, shows and revokes the API keys of programs.",
      "The secret of a key is shown once, when the key is created."
    },
    footer = {
      "",
      "Examples:",
      "  parley keys                              list the keys",
      "  parley keys create ci                    create a key that reads and writes",
      "  parley keys create wall --scope read --expires 30d",
      "  parley keys create phone --for local     a key that acts for you at home",
      "  parley keys revoke ci                    revoke a key; its streams end at once",
      "",
      "Scopes: read, write, approve, administer"
    })
final class KeysCommand extends ServerCommand {

  private static final int TEXT_MAX = 60;

  @Parameters(
      index = "0",
      arity = "0..1",
      paramLabel = "ACTION",
      description = "create, show or revoke; without it, lists the keys.")
  private @Nullable String action;

  @Parameters(index = "1", arity = "0..1", paramLabel = "KEY", description = "Its name or id.")
  private @Nullable String key;

  @Option(
      names = "--scope",
      split = ",",
      paramLabel = "SCOPE",
      description = "What a new key permits (default: read,write).")
  private @Nullable List<String> scopes;

  @Option(
      names = "--agent",
      split = ",",
      paramLabel = "AGENT",
      description = "The agents that a new key is limited to.")
  private @Nullable List<String> agents;

  @Option(
      names = "--context",
      split = ",",
      paramLabel = "CONTEXT",
      description = "The contexts that a new key is limited to.")
  private @Nullable List<String> contexts;

  @Option(
      names = "--for",
      paramLabel = "NAME",
      description = "For whom a new key acts: a person, local, or any other name.")
  private @Nullable String principal;

  @Option(
      names = "--expires",
      paramLabel = "TIME",
      description = "How long a new key is valid, such as 12h or 90d (default: for ever).")
  private @Nullable String expires;

  @Option(names = "--json", description = "One JSON object per line.")
  private boolean json;

  KeysCommand(Terminal terminal) {
    super(terminal);
  }

  @Override
  void checkArguments() {
    if (action != null && !List.of("create", "show", "revoke").contains(action)) {
      throw new CommandExit(
          CommandExit.USAGE, "Unknown action " + action + "; choose create, show or revoke");
    }
    if (action != null && key == null) {
      throw new CommandExit(CommandExit.USAGE, "Name the key: parley keys " + action + " NAME");
    }
    if (expires != null) {
      var _ = ExpiryOption.parse(expires);
    }
  }

  @Override
  void run(ParleyClient client) {
    if (action == null || key == null) {
      print(client.keys());
      return;
    }
    switch (action) {
      case "create" -> create(client, key);
      case "show" -> print(List.of(client.key(key)));
      default -> {
        client.revokeKey(key);
        terminal.err().println("Revoked " + key + "; its streams have ended.");
      }
    }
  }

  private void create(ParleyClient client, String name) {
    var expiresAt = expires == null ? null : ExpiryOption.from(InstantSource.system(), expires);
    var created =
        client.createKey(new NewKey(name, principal, scopes, agents, contexts, expiresAt));
    if (json) {
      printJson(List.of(created));
      return;
    }
    // The secret alone on standard output, so that a script can store it.
    terminal.out().println(created.secret());
    terminal.out().flush();
    terminal
        .err()
        .println(
            "This is the only time that the key %s is shown. It acts for %s (%s)."
                .formatted(
                    created.name(), created.principal(), String.join(", ", created.scopes())));
  }

  private void print(List<KeyView> keys) {
    if (json) {
      printJson(keys);
      return;
    }
    if (keys.isEmpty()) {
      terminal.err().println("There are no keys. Create one with: parley keys create NAME");
      return;
    }
    table(keys).print(terminal.out(), terminal.outStyle());
  }

  static AlignedTable table(List<KeyView> keys) {
    var table =
        new AlignedTable("NAME", "ACTS FOR", "SCOPES", "LIMITS", "EXPIRES", "LAST USED", "ID");
    for (var key : keys) {
      table.row(
          TextSanitizer.line(key.name(), TEXT_MAX),
          TextSanitizer.line(key.principal(), TEXT_MAX),
          String.join(",", key.scopes()),
          TextSanitizer.line(limits(key), TEXT_MAX),
          key.expiresAt() == null ? "never" : ExpiryOption.day(key.expiresAt()),
          key.lastUsedAt() == null ? "never" : ExpiryOption.day(key.lastUsedAt()),
          key.id());
    }
    return table;
  }

  private static String limits(KeyView key) {
    var limits = new ArrayList<>(key.agents());
    limits.addAll(key.contexts());
    return String.join(",", limits);
  }

  /// The value of `--expires`.
  static final class ExpiryOption {

    private ExpiryOption() {}

    /// The time after `text` from now.
    static Instant from(InstantSource clock, String text) {
      return clock.instant().plus(parse(text));
    }

    /// Reads a number of minutes (m), hours (h) or days (d).
    ///
    /// @throws CommandExit if it is not one
    static Duration parse(String text) {
      if (!text.matches("[1-9][0-9]{0,4}[mhd]")) {
        throw new CommandExit(
            CommandExit.USAGE,
            "--expires must be a number and m, h or d, such as 90d; not " + text);
      }
      var number = Long.parseLong(text.substring(0, text.length() - 1));
      return switch (text.charAt(text.length() - 1)) {
        case 'm' -> Duration.ofMinutes(number);
        case 'h' -> Duration.ofHours(number);
        default -> Duration.ofDays(number);
      };
    }

    /// A time as people read it, in UTC.
    static String day(Instant time) {
      return time.toString().substring(0, "2026-11-19T12:00".length()).replace('T', ' ');
    }
  }
}
