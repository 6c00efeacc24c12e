package dev.parley.app;

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
    description = "Cancels a task and all its subtasks. Text that was written so far is kept.",
    footer = {"", "Example:", "  parley cancel TASK"})
final class CancelCommand implements Callable<Integer> {

  private final Terminal terminal;

  @Mixin private final ServerOptions server = new ServerOptions();

  @Parameters(
      paramLabel = "TASK",
      description = "The task to cancel: its id, or the first 4 or more characters of it.")
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
    TaskId id;
    try (var client = server.client(terminal)) {
      var foundContext = find(new IdLookup(client));
      id = foundContext.task();
      var before = client.task(foundContext.context(), id);
      if (before.status().terminal()) {
        terminal.out().println("Task " + id + " had already ended: " + before.status().wire());
        return 0;
      }
      client.cancel(foundContext.context(), id);
    }
    terminal.out().println("Cancellation requested: " + id);
    return 0;
  }

  private IdLookup.FoundContext find(IdLookup idLookup) {
    if (context == null) {
      return idLookup.openTask(task);
    }
    var in = idLookup.context(context);
    return new IdLookup.FoundContext(in, idLookup.task(in, task));
  }
}
