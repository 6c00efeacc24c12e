package dev.parley.app;

import dev.parley.http.EdgeSettings.TlsFiles;
import dev.parley.log.FatalHandler;
import dev.parley.protocol.Rejection;
import dev.parley.server.ClusterServer;
import dev.parley.server.Config;
import dev.parley.server.Extensions;
import dev.parley.server.RunningServer;
import dev.parley.server.Server;
import dev.parley.task.FailPoint;
import java.net.URI;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/// A server inside this process. Only this class configures and starts one.
final class LocalServer implements AutoCloseable {

  private final RunningServer server;
  private final @Nullable TlsFiles tls;

  private LocalServer(RunningServer server, @Nullable TlsFiles tls) {
    this.server = server;
    this.tls = tls;
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
    var extensions = HaltingFailPoint.extensions(environment).with(fatal);
    var shared = options.shared(environment);
    try {
      return new LocalServer(
          shared.isPresent()
              ? ClusterServer.start(config, extensions, shared.get())
              : Server.start(config, extensions),
          config.http().edge().tls());
    } catch (Rejection.Invalid wrong) {
      throw new CommandExit(CommandExit.USAGE, message(wrong));
    } catch (Rejection taken) {
      throw new CommandExit(CommandExit.FAILED, message(taken));
    }
  }

  URI url() {
    return URI.create(server.url());
  }

  /// The file with the certificate of the server; null without TLS.
  @Nullable Path certificate() {
    return tls == null ? null : tls.certificate();
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
      return Config.load(
          file, new Config.ProcessEnvironment(environment, home, folder), ProgramModules.ALL);
    } catch (Rejection.Invalid wrong) {
      throw new CommandExit(CommandExit.USAGE, message(wrong));
    }
  }

  private static String message(Rejection rejection) {
    return String.valueOf(rejection.getMessage());
  }

  /// Ends the process, as if it were killed, when a fail point is reached for the nth time. Only
  /// for tests of recovery: the environment variable `PARLEY_FAIL_AT` has the value `name:n`.
  static final class HaltingFailPoint implements FailPoint {

    private static final String VARIABLE = "PARLEY_FAIL_AT";
    private static final int KILLED = 137;

    private final String place;
    private final AtomicInteger left;

    private HaltingFailPoint(String place, int arrivals) {
      this.place = place;
      this.left = new AtomicInteger(arrivals);
    }

    /// The extensions of a server: the modules, and a fail point if the environment variable is
    /// set.
    static Extensions extensions(Map<String, String> environment) {
      var wanted = environment.get(VARIABLE);
      if (wanted == null) {
        return ProgramModules.ALL;
      }
      var parts = wanted.split(":", 2);
      if (parts.length != 2 || !parts[1].matches("[1-9][0-9]{0,5}")) {
        throw new CommandExit(
            CommandExit.USAGE, VARIABLE + " must be a fail point and a number, such as begun:1");
      }
      var halt = new HaltingFailPoint(parts[0], Integer.parseInt(parts[1]));
      return ProgramModules.ALL.with(halt);
    }

    @Override
    public void reach(String name) {
      if (name.equals(place) && left.decrementAndGet() == 0) {
        Runtime.getRuntime().halt(KILLED);
      }
    }
  }
}
