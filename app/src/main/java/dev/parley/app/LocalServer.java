package dev.parley.app;

import dev.parley.log.FatalHandler;
import dev.parley.protocol.Rejection;
import dev.parley.server.Config;
import dev.parley.server.Server;
import java.net.URI;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// A server inside this process. Only this class configures and starts one.
final class LocalServer implements AutoCloseable {

  private final Server server;

  private LocalServer(Server server) {
    this.server = server;
  }

  /// Starts a server; it accepts requests when this returns.
  ///
  /// @throws Exit if the configuration is wrong, or the port or the data folder is in use
  static LocalServer start(ServeOptions options, Path data, Map<String, String> environment) {
    var read = load(options.config, environment).keepingDataIn(data);
    return start(options, read, environment, FatalHandler.NONE);
  }

  /// The same for a process that is only a server. Calls `fatal` if the server cannot continue.
  ///
  /// @throws Exit if the configuration is wrong, or the port or the data folder is in use
  static LocalServer program(
      ServeOptions options, Path data, Map<String, String> environment, FatalHandler fatal) {
    var config = load(options.config, environment).keepingDataIn(data).standalone();
    return start(options, config, environment, fatal);
  }

  private static LocalServer start(
      ServeOptions options, Config read, Map<String, String> environment, FatalHandler fatal) {
    if (options.port != null) {
      ServeOptions.checkPort(options.port);
    }
    var config = options.insecure ? read.madeInsecure() : read;
    config =
        config.listeningOn(
            Optional.ofNullable(options.host).orElse(config.http().host()),
            Optional.ofNullable(options.port).orElse(config.http().port()));
    try {
      return new LocalServer(
          Server.start(config, HaltingFailPoint.extensions(environment).with(fatal)));
    } catch (Rejection.Invalid wrong) {
      throw new CommandExit(CommandExit.USAGE, message(wrong));
    } catch (Rejection taken) {
      throw new CommandExit(CommandExit.FAILED, message(taken));
    }
  }

  URI url() {
    return URI.create(server.url());
  }

  /// Drains for at most ten seconds.
  @Override
  public void close() {
    server.close();
  }

  /// Reads the configuration without starting anything.
  ///
  /// @throws Exit if it is wrong
  static Config load(@Nullable Path file, Map<String, String> environment) {
    return load(file, environment, Path.of("").toAbsolutePath());
  }

  /// Does the same for a server that was started in `folder`.
  ///
  /// @throws CommandExit if it is wrong
  static Config load(@Nullable Path file, Map<String, String> environment, Path folder) {
    var home = Path.of(System.getProperty("user.home"));
    try {
      return Config.load(file, new Config.ProcessEnvironment(environment, home, folder));
    } catch (Rejection.Invalid wrong) {
      throw new CommandExit(CommandExit.USAGE, message(wrong));
    }
  }

  private static String message(Rejection rejection) {
    return String.valueOf(rejection.getMessage());
  }
}
