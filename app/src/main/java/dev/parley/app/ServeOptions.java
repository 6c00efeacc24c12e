package dev.parley.app;

import dev.parley.log.PostgresAddress;
import dev.parley.protocol.Rejection;
import dev.parley.server.Config.SharedDatabase;
import java.net.URI;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/// The options of a server.
final class ServeOptions {

  @Option(
      names = "--host",
      paramLabel = "HOST",
      description = "The address to listen on. Default: 127.0.0.1.")
  @Nullable String host;

  @Option(
      names = "--port",
      paramLabel = "PORT",
      description = "The port to listen on; 0 picks a free one. Default: 7070.")
  @Nullable Integer port;

  private static final int PORT_MAX = 65_535;

  @Option(
      names = "--data",
      paramLabel = "DIR",
      description = "The data folder. Default: PARLEY_DATA, else ~/.parley.")
  @Nullable Path data;

  @Option(
      names = "--config",
      paramLabel = "FILE",
      description = "The configuration file. Default: none, which uses the offline model.")
  @Nullable Path config;

  @Option(
      names = "--db",
      paramLabel = "URL",
      description =
          "Keep the log in this PostgreSQL database, which several servers can share:"
              + " postgresql://USER@HOST/DATABASE. The password is read from PGPASSWORD. Default:"
              + " PARLEY_DB, else SQLite in the data folder.")
  @Nullable String database;

  @Option(
      names = "--node-address",
      paramLabel = "URL",
      description =
          "The address at which the other servers of --db reach this one. Default: the address it"
              + " listens on.")
  @Nullable URI nodeAddress;

  @Option(
      names = "--insecure",
      description =
          "Listen on an address that other machines can reach, without tokens. Everyone who can"
              + " reach it can use your agents and read your files.")
  boolean insecure;

  /// The database that the server shares with others; empty if it has none.
  ///
  /// @throws CommandExit if an address is wrong
  Optional<SharedDatabase> shared(Map<String, String> environment) {
    var url = database == null ? environment.get(DatabaseOption.VARIABLE) : database;
    if (url == null || url.isEmpty()) {
      if (nodeAddress != null) {
        throw new CommandExit(CommandExit.USAGE, "--node-address needs --db");
      }
      return Optional.empty();
    }
    try {
      return Optional.of(
          new SharedDatabase(PostgresAddress.parse(url, environment), checkedNodeAddress()));
    } catch (Rejection.Invalid wrong) {
      throw new CommandExit(CommandExit.USAGE, String.valueOf(wrong.getMessage()));
    }
  }

  private @Nullable URI checkedNodeAddress() {
    if (nodeAddress != null
        && (!Set.of("http", "https").contains(String.valueOf(nodeAddress.getScheme()))
            || nodeAddress.getHost() == null)) {
      throw new CommandExit(
          CommandExit.USAGE, "--node-address must be a URL such as http://10.0.0.4:7070");
    }
    return nodeAddress;
  }

  /// Checks the value of `--port`.
  ///
  /// @throws CommandExit if it is no port
  static void checkPort(int port) {
    if (port < 0 || port > PORT_MAX) {
      throw new CommandExit(
          CommandExit.USAGE, "--port must be between 0 and " + PORT_MAX + ", not " + port);
    }
  }
}
