package dev.parley.app;

import dev.parley.app.Terminal.ColorMode;
import dev.parley.server.ParleyVersion;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.IVersionProvider;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.ScopeType;

/// `parley` without a command: starts a server.
@Command(
    name = "parley",
    mixinStandardHelpOptions = true,
    versionProvider = RootCommand.Version.class,
    description = {
      "Runs agents, writes every step they take to a durable log, and shows that log live or"
          + " later.",
      "Without a command, starts a server."
    },
    footer = {
      "",
      "Examples:",
      "  parley                                  start a server on http://127.0.0.1:7070",
      "  parley chat \"count to 20\"               send a message and show the answer",
      "  parley chat                             chat interactively",
      "  parley chat --continue                  continue the last conversation",
      "  parley tail CONTEXT                     show all events of a context, live",
      "",
      "Exit codes: 0 success, 1 failure, 2 wrong usage or configuration, 3 no server,",
      "            4 an answer is needed, 130 canceled"
    })
final class RootCommand implements Callable<Integer> {

  private final Terminal terminal;

  @Mixin private final ServeOptions options = new ServeOptions();

  @Option(
      names = "--verbose",
      scope = ScopeType.INHERIT,
      description = "Show all details, and the stack trace of an error.")
  private boolean verbose;

  /// Rejects an unknown mode. The mode itself was read before: see [ColorMode#fromArguments].
  @Option(
      names = ColorMode.OPTION,
      scope = ScopeType.INHERIT,
      paramLabel = "WHEN",
      description = "Colours: auto (default), always or never.")
  void color(ColorMode mode) {}

  RootCommand(Terminal terminal) {
    this.terminal = terminal;
  }

  boolean verbose() {
    return verbose;
  }

  @Override
  public Integer call() throws InterruptedException {
    return new ServerRunner(terminal, options).run();
  }

  /// The version of the program.
  static final class Version implements IVersionProvider {

    @Override
    public String[] getVersion() {
      return new String[] {"parley " + ParleyVersion.text(), "Java " + Runtime.version()};
    }
  }
}
