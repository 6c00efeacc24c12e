package dev.parley.app;

import dev.parley.protocol.ContextId;
import dev.parley.protocol.TaskId;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/// `parley cancel`.
@Command(
    name = "cancel",
    mixinStandardHelpOptions = true,
    description = "Cancels a task and everything below it. What it said until then stays.",
    footer = {"", "Example:", "  parley cancel TASK"})
final class CancelCommand implements Callable<Integer> {

  private final Terminal terminal;

  @Mixin private final ServerOptions server = new ServerOptions();

  @Parameters(paramLabel = "TASK", description = "The task to cancel.")
  private String task = "";

  @Option(
      names = "--context",
      paramLabel = "ID",
      description = "The context of the task. Default: the server finds it.")
  private @Nullable String context;

  CancelCommand(Terminal terminal) {
    this.terminal = terminal;
  }

  @Override
  public Integer call() {
    var id = new TaskId(task);
    try (var client = server.client(terminal)) {
      var place = context == null ? client.contextOf(id) : new ContextId(context);
      var before = client.task(place, id);
      if (before.status().terminal()) {
        terminal.out().println("Task " + id + " had already ended: " + before.status().wire());
        return 0;
      }
      client.cancel(place, id);
    }
    terminal.out().println("Cancellation requested: " + id);
    return 0;
  }
}
