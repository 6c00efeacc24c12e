package dev.parley.app;

import dev.parley.log.FatalHandler;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Path;
import java.time.Instant;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.IntConsumer;
import java.util.logging.Level;
import java.util.logging.Logger;

/// Runs a server until a signal ends it.
final class ServerRunner {

  /// A server drains for ten seconds; one that takes longer than this is stuck.
  private static final long CLOSE_SECONDS_MAX = 15;

  /// A constant, because a logger without references is collected and loses its level.
  private static final Logger JETTY = Logger.getLogger("org.eclipse.jetty");

  private final Terminal terminal;
  private final ServeOptions options;
  private final CountDownLatch stop = new CountDownLatch(1);
  private final CountDownLatch stopped = new CountDownLatch(1);

  ServerRunner(Terminal terminal, ServeOptions options) {
    this.terminal = terminal;
    this.options = options;
  }

  /// What happens between the start of the server and its end.
  interface ServerUse {
    void use(LocalServer server) throws InterruptedException;
  }

  int run() throws InterruptedException {
    return run(this::stopOnSignals, _ -> stop.await());
  }

  /// Does the same, but stops the server when `use` returns. A signal ends the process at once.
  int run(ServerUse use) throws InterruptedException {
    return run(() -> {}, use);
  }

  private int run(Runnable beforeStart, ServerUse use) throws InterruptedException {
    var data = ServerOptions.dataFolder(options.data, terminal).toAbsolutePath().normalize();
    JETTY.setLevel(Level.WARNING);
    beforeStart.run();
    try (var server =
        LocalServer.program(options, data, terminal.environment(), new FatalExit(terminal.err()))) {
      reportReady(server, data);
      use.use(server);
      terminal.err().println("Stopping ...");
      haltIfStuck();
    } finally {
      removeServerFile(data);
      stopped.countDown();
    }
    return 0;
  }

  private void reportReady(LocalServer server, Path data) {
    try {
      ServerFile.write(data, server.url(), options.config, server.certificate(), Instant.now());
    } catch (IOException unwritable) {
      // Only a convenience: other commands then need --url.
      terminal.err().println("Cannot write server.json: " + unwritable.getMessage());
    }
    terminal.out().println("Parley is ready: " + server.url());
    terminal.out().flush();
  }

  private static void removeServerFile(Path data) {
    try {
      ServerFile.remove(data);
    } catch (IOException left) {
      // Readers of the file check that its process is alive.
    }
  }

  /// The first signal stops the server in order, the second one at once. A shutdown hook makes any
  /// other exit wait until the server has stopped.
  private void stopOnSignals() {
    Runtime.getRuntime().addShutdownHook(new Thread(this::stopAndWait, "parley-stop"));
    for (var signal : new String[] {"INT", "TERM"}) {
      var _ = SignalHandlers.handle(signal, this::onSignal);
    }
  }

  private void onSignal() {
    if (stop.getCount() == 0) {
      Runtime.getRuntime().halt(CommandExit.CANCELED);
    }
    stop.countDown();
  }

  private void stopAndWait() {
    stop.countDown();
    try {
      var _ = stopped.await(CLOSE_SECONDS_MAX, TimeUnit.SECONDS);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private void haltIfStuck() {
    Thread.ofPlatform()
        .daemon()
        .name("parley-stop-watch")
        .start(
            () -> {
              try {
                if (!stopped.await(CLOSE_SECONDS_MAX, TimeUnit.SECONDS)) {
                  Runtime.getRuntime().halt(CommandExit.FAILED);
                }
              } catch (InterruptedException interrupted) {
                Thread.currentThread().interrupt();
              }
            });
  }

  /// Ends the process when its server cannot continue. The log survives, and a process supervisor
  /// can start the server again.
  static final class FatalExit implements FatalHandler {

    private final PrintStream err;
    private final IntConsumer halt;

    FatalExit(PrintStream err) {
      // Not exit: shutdown hooks may wait for the failed thread.
      this(err, Runtime.getRuntime()::halt);
    }

    FatalExit(PrintStream err, IntConsumer halt) {
      this.err = err;
      this.halt = halt;
    }

    @Override
    public void failed(String thread, Throwable cause) {
      try {
        err.println(
            "parley: exiting because the thread "
                + thread
                + " failed: "
                + cause
                + ". Everything that was acknowledged is in the log. Start the server again.");
        err.flush();
      } finally {
        halt.accept(CommandExit.FAILED);
      }
    }
  }
}
