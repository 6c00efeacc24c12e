package dev.parley.app;

import dev.parley.client.ParleyClient;
import dev.parley.protocol.PauseView;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/// `parley pause`.
@Command(
    name = "pause",
    mixinStandardHelpOptions = true,
    description = {
      "Pauses an agent, a person, a tenant or everything; without a target, lists what is paused.",
      "New tasks are accepted and wait. Running tasks stop before their next call of a model or a"
          + " tool. Nothing is lost, also if the server restarts."
    },
    footer = {
      "",
      "Examples:",
      "  parley pause                                  what is paused",
      "  parley pause --all --reason \"maintenance\"",
      "  parley pause --agent coder",
      "  parley resume --agent coder"
    })
final class PauseCommand extends ServerCommand {

  private static final int TEXT_MAX = 60;

  @Mixin private final PauseTarget target = new PauseTarget();

  @Option(names = "--reason", paramLabel = "TEXT", description = "The reason, for others to see.")
  private @Nullable String reason;

  @Option(names = "--json", description = "One JSON object per line.")
  private boolean json;

  PauseCommand(Terminal terminal) {
    super(terminal);
  }

  @Override
  void checkArguments() {
    target.check();
    if (target.missing() && reason != null) {
      throw new CommandExit(
          CommandExit.USAGE, "Name what to pause: --all, --agent, --person or --tenant.");
    }
  }

  @Override
  void run(ParleyClient client) {
    if (!target.missing()) {
      print(List.of(client.pause(target.scope(), target.name(), reason)));
      return;
    }
    var pauses = client.pauses();
    if (pauses.isEmpty() && !json) {
      terminal.err().println("Nothing is paused.");
    } else {
      print(pauses);
    }
  }

  private void print(List<PauseView> pauses) {
    if (json) {
      printJson(pauses);
    } else {
      table(pauses).print(terminal.out(), terminal.outStyle());
    }
  }

  static AlignedTable table(List<PauseView> pauses) {
    var table = new AlignedTable("PAUSED", "SINCE", "BY", "WAITING TASKS", "REASON");
    for (var pause : pauses) {
      table.row(
          TextSanitizer.line(pause.id(), TEXT_MAX),
          AlignedTable.time(pause.since()),
          TextSanitizer.line(pause.pausedBy(), TEXT_MAX),
          Integer.toString(pause.waitingTasks()),
          pause.reason() == null ? "" : TextSanitizer.line(pause.reason(), TEXT_MAX));
    }
    return table;
  }
}
