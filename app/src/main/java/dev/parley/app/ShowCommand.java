package dev.parley.app;

import dev.parley.protocol.ContextId;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/// `parley show`.
@Command(
    name = "show",
    mixinStandardHelpOptions = true,
    description = "Shows a context: the conversation, its tasks and artifacts, and what it cost.",
    footer = {"", "Example:", "  parley show CONTEXT | less"})
final class ShowCommand implements Callable<Integer> {

  private final Terminal terminal;

  @Mixin private final ServerOptions server = new ServerOptions();

  @Parameters(paramLabel = "CONTEXT", description = "The context to show.")
  private String context = "";

  ShowCommand(Terminal terminal) {
    this.terminal = terminal;
  }

  @Override
  public Integer call() {
    var id = new ContextId(context);
    try (var client = server.client(terminal)) {
      var view = new ContextPage(terminal.out(), terminal.outStyle());
      var snapshot = client.snapshot(id);
      view.head(snapshot.context());
      if (snapshot.hasEarlierMessages()) {
        new Transcript(client, id).forEach(view::message);
      } else {
        snapshot.messages().forEach(view::message);
      }
      view.rest(snapshot);
    }
    return 0;
  }
}
