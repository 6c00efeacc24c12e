package dev.parley.app;

import dev.parley.client.NewMessage;
import dev.parley.client.Rewind;
import dev.parley.protocol.ContextId;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/// `parley rewind`.
@Command(
    name = "rewind",
    mixinStandardHelpOptions = true,
    description = "Takes a context back. Nothing is erased; what was left behind no longer counts.",
    footer = {
      "",
      "Examples:",
      "  parley rewind CONTEXT --before TASK",
      "  parley rewind CONTEXT --to 17 --message \"count to 5 instead\""
    })
final class RewindCommand implements Callable<Integer> {

  private final Terminal terminal;

  @Mixin private final ServerOptions server = new ServerOptions();

  @Mixin private final ContextChoice context = new ContextChoice();

  @ArgGroup(multiplicity = "1")
  private Place place = new Place();

  /// Where to go back to.
  static final class Place {
    @Option(
        names = "--before",
        paramLabel = "TASK",
        description = "To before this task and the message that asked for it.")
    private @Nullable String before;

    @Option(names = "--to", paramLabel = "SEQ", description = "To right after this event.")
    private @Nullable Long to;

    Rewind rewind(Lookup lookup, ContextId context) {
      if (to != null) {
        return Rewind.to(to);
      }
      return Rewind.before(lookup.task(context, String.valueOf(before)));
    }
  }

  @Option(names = "--message", paramLabel = "TEXT", description = "What to say from there.")
  private @Nullable String message;

  RewindCommand(Terminal terminal) {
    this.terminal = terminal;
  }

  @Override
  public Integer call() {
    try (var client = server.client(terminal)) {
      var id = context.find(client);
      var rewound = client.rewind(id, place.rewind(new Lookup(client), id));
      terminal.out().println("Context " + id + " is back at event " + rewound.toSeq());
      if (message != null) {
        var accepted = client.send(id, NewMessage.text(message));
        terminal.out().println("Sent: task " + accepted.taskId());
      }
    }
    return 0;
  }
}
