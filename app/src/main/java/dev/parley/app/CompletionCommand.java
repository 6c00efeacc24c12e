package dev.parley.app;

import java.util.concurrent.Callable;
import picocli.AutoComplete;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/// `parley completion`.
@Command(
    name = "completion",
    mixinStandardHelpOptions = true,
    description = "Prints a script that completes commands and options in a shell.",
    footer = {
      "",
      "Examples:",
      "  source <(parley completion bash)",
      "  parley completion zsh > ~/.parley-completion && echo 'source ~/.parley-completion' >> ~/.zshrc"
    })
final class CompletionCommand implements Callable<Integer> {

  private final Terminal terminal;

  @Parameters(
      paramLabel = "SHELL",
      defaultValue = "bash",
      description = "bash or zsh. Default: bash.")
  private Shell shell = Shell.bash;

  /// The supported shells; both use the same script.
  enum Shell {
    bash,
    zsh
  }

  CompletionCommand(Terminal terminal) {
    this.terminal = terminal;
  }

  @Override
  public Integer call() {
    if (shell == Shell.zsh) {
      terminal.out().println("autoload -U +X bashcompinit && bashcompinit");
    }
    terminal.out().println(AutoComplete.bash("parley", CommandLineProgram.commandLine(terminal)));
    return 0;
  }
}
