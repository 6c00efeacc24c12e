package dev.parley.app;

import dev.parley.log.PostgresAddress;
import dev.parley.protocol.Rejection;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/// The option that names a PostgreSQL database.
final class DatabaseOption {

  static final String VARIABLE = "PARLEY_DB";

  @Option(
      names = "--db",
      paramLabel = "URL",
      description =
          "The PostgreSQL database: postgresql://USER@HOST/DATABASE. The password is read from"
              + " PGPASSWORD. Default: PARLEY_DB.")
  private @Nullable String url;

  /// The database; empty if none is named.
  ///
  /// @throws CommandExit if the address is wrong
  Optional<PostgresAddress> find(Terminal terminal) {
    var text = url == null ? terminal.variable(VARIABLE) : url;
    if (text == null || text.isEmpty()) {
      return Optional.empty();
    }
    try {
      return Optional.of(PostgresAddress.parse(text, terminal.environment()));
    } catch (Rejection.Invalid wrong) {
      throw new CommandExit(CommandExit.USAGE, String.valueOf(wrong.getMessage()));
    }
  }

  /// The database.
  ///
  /// @throws CommandExit if none is named, or the address is wrong
  PostgresAddress required(Terminal terminal) {
    return find(terminal)
        .orElseThrow(
            () ->
                new CommandExit(
                    CommandExit.USAGE,
                    "Name the database with --db postgresql://USER@HOST/DATABASE"));
  }
}
