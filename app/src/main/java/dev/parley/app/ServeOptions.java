package dev.parley.app;

import java.nio.file.Path;
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
      names = "--insecure",
      description =
          "Listen on an address that other machines can reach, without tokens. Everyone who can"
              + " reach it can use your agents and read your files.")
  boolean insecure;

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
