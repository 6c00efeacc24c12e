package dev.parley.app;

import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/// `parley show`.
@Command(
    name = "show",
    mixinStandardHelpOptions = true,
    description = "Shows a context: the conversation, its tasks and artifacts, and its cost.",
    footer = {"", "Example:", "  parley show --last | less"})
final class ShowCommand implements Callable<Integer> {

  private final Terminal terminal;

  @Mixin private final ServerOptions server = new ServerOptions();

  @Mixin private final ContextArgument context = new ContextArgument();

  ShowCommand(Terminal terminal) {
    this.terminal = terminal;
  }

  @Override
  public Integer call() {
    try (var client = server.client(terminal)) {
      var id = context.find(client);
      var view = new ContextText(terminal.out(), terminal.outStyle());
      var snapshot = client.snapshot(id);
      view.printHeader(snapshot.context());
      if (snapshot.hasEarlierMessages()) {
        new MessagePages(client, id).forEach(view::printMessage);
      } else {
        snapshot.messages().forEach(view::printMessage);
      }
      view.printDetails(snapshot);
    }
    return 0;
  }
}
