package dev.parley.app;

import dev.parley.client.ParleyClient;
import dev.parley.protocol.Json;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Mixin;

/// A command that sends requests to a server.
abstract class ServerCommand implements Callable<Integer> {

  final Terminal terminal;

  @Mixin final ServerOptions server = new ServerOptions();

  ServerCommand(Terminal terminal) {
    this.terminal = terminal;
  }

  /// Checks the arguments, before the server is looked up.
  ///
  /// @throws CommandExit if they are wrong
  void checkArguments() {}

  /// Does the work.
  abstract void run(ParleyClient client) throws IOException;

  @Override
  public final Integer call() throws IOException {
    checkArguments();
    try (var client = server.client(terminal)) {
      run(client);
    }
    return 0;
  }

  /// Prints one JSON object per line.
  final void printJson(List<?> items) {
    for (var item : items) {
      terminal.out().println(new String(Json.bytes(item), StandardCharsets.UTF_8));
    }
    terminal.out().flush();
  }

  /// Checks the value of `--limit`.
  ///
  /// @throws CommandExit if the limit is below 1
  static void checkLimit(int limit) {
    if (limit < 1) {
      throw new CommandExit(CommandExit.USAGE, "--limit must be at least 1, not " + limit);
    }
  }
}
