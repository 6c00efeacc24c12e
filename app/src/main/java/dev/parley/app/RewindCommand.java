package dev.parley.app;

import dev.parley.client.NewMessage;
import dev.parley.client.ParleyClient;
import dev.parley.client.Rewind;
import dev.parley.protocol.ContextId;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/// `parley rewind`.
@Command(
    name = "rewind",
    mixinStandardHelpOptions = true,
    description =
        "Takes a context back to an earlier event. Nothing is erased; later events are ignored.",
    footer = {
      "",
      "Examples:",
      "  parley rewind CONTEXT --before TASK",
      "  parley rewind CONTEXT --to 17 --message \"count to 5 instead\""
    })
final class RewindCommand extends ServerCommand {

  @Mixin private final ContextArgument context = new ContextArgument();

  @ArgGroup(multiplicity = "1")
  private RewindTarget target = new RewindTarget();

  /// The point to go back to.
  static final class RewindTarget {
    @Option(
        names = "--before",
        paramLabel = "TASK",
        description = "Go back to before this task and its message.")
    private @Nullable String before;

    @Option(names = "--to", paramLabel = "SEQ", description = "Go back to this event.")
    private @Nullable Long to;

    Rewind rewind(IdLookup idLookup, ContextId context) {
      if (to != null) {
        return Rewind.to(to);
      }
      return Rewind.before(idLookup.task(context, String.valueOf(before)));
    }
  }

  @Option(names = "--message", paramLabel = "TEXT", description = "A message to send afterwards.")
  private @Nullable String message;

  RewindCommand(Terminal terminal) {
    super(terminal);
  }

  @Override
  void run(ParleyClient client) {
    var id = context.find(client);
    var rewound = client.rewind(id, target.rewind(new IdLookup(client), id));
    terminal.out().println("Context " + id + " is back at event " + rewound.toSeq());
    if (message != null) {
      var accepted = client.send(id, NewMessage.text(message));
      terminal.out().println("Sent: task " + accepted.taskId());
    }
  }
}
