package dev.parley.app;

import dev.parley.client.NewFork;
import dev.parley.client.ParleyClient;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/// `parley fork`.
@Command(
    name = "fork",
    mixinStandardHelpOptions = true,
    description = "Creates a context that shares the history of another, and prints its id.",
    footer = {"", "Examples:", "  parley fork CONTEXT", "  parley fork CONTEXT --at 17"})
final class ForkCommand extends ServerCommand {

  @Mixin private final ContextArgument context = new ContextArgument();

  @Option(
      names = "--at",
      paramLabel = "SEQ",
      description = "The last event that both share. Default: the last event of the context.")
  private @Nullable Long at;

  ForkCommand(Terminal terminal) {
    super(terminal);
  }

  @Override
  void run(ParleyClient client) {
    var fork = at == null ? NewFork.OF_ALL : NewFork.at(at);
    terminal.out().println(client.fork(context.find(client), fork).contextId());
  }
}
