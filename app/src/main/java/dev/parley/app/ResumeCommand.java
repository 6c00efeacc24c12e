package dev.parley.app;

import dev.parley.client.ParleyClient;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/// `parley resume`.
@Command(
    name = "resume",
    mixinStandardHelpOptions = true,
    description = "Ends a pause: its tasks continue. See parley pause.",
    footer = {"", "Examples:", "  parley resume --all", "  parley resume --agent coder"})
final class ResumeCommand extends ServerCommand {

  @Mixin private final PauseTarget target = new PauseTarget();

  ResumeCommand(Terminal terminal) {
    super(terminal);
  }

  @Override
  void checkArguments() {
    target.check();
    if (target.missing()) {
      throw new CommandExit(
          CommandExit.USAGE,
          "Name what to resume: --all, --agent, --person or --tenant (see parley pause).");
    }
  }

  @Override
  void run(ParleyClient client) {
    var ended = client.resume(target.id());
    terminal.out().println("Resumed: " + ended.id());
  }
}
