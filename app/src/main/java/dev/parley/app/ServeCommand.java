package dev.parley.app;

import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/// `parley serve`.
@Command(
    name = "serve",
    mixinStandardHelpOptions = true,
    description = {
      "Starts a server and runs until it is stopped.",
      "Prints one line on standard output when it accepts requests."
    },
    footer = {
      "",
      "Examples:",
      "  parley serve --port 0 --data /tmp/try",
      "  parley serve --config parley.yaml",
      "",
      "SIGTERM and Ctrl-C stop it within 10 seconds. Running tasks get 4 seconds to end; a task",
      "that does not end continues after the next start. A second Ctrl-C stops it at once.",
      "Exit codes: 0 stopped, 1 port or data folder in use, or a part of the server failed,",
      "2 wrong configuration, 3 out of memory"
    })
final class ServeCommand implements Callable<Integer> {

  private final Terminal terminal;

  @Mixin private final ServeOptions options = new ServeOptions();

  ServeCommand(Terminal terminal) {
    this.terminal = terminal;
  }

  @Override
  public Integer call() throws InterruptedException {
    return new ServerRunner(terminal, options).run();
  }
}
