package dev.parley.app;

import dev.parley.client.ParleyClient;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/// `parley show`.
@Command(
    name = "show",
    mixinStandardHelpOptions = true,
    description = "Shows a context: the conversation, its tasks and artifacts, and its cost.",
    footer = {"", "Example:", "  parley show --last | less"})
final class ShowCommand extends ServerCommand {

  @Mixin private final ContextArgument context = new ContextArgument();

  ShowCommand(Terminal terminal) {
    super(terminal);
  }

  @Override
  void run(ParleyClient client) {
    var id = context.find(client);
    var view = new ContextText(terminal.out(), terminal.outStyle());
    var snapshot = client.snapshot(id);
    view.printHeader(snapshot.context());
    if (snapshot.hasEarlierMessages()) {
      ContextExport.forEachMessage(client, id, view::printMessage);
    } else {
      snapshot.messages().forEach(view::printMessage);
    }
    view.printDetails(snapshot);
  }
}
