package dev.parley.app;

import dev.parley.client.ParleyClient;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/// `parley cancel`.
@Command(
    name = "cancel",
    mixinStandardHelpOptions = true,
    description = "Cancels a task and all its subtasks. Text that was written so far is kept.",
    footer = {"", "Example:", "  parley cancel TASK"})
final class CancelCommand extends ServerCommand {

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
    super(terminal);
  }

  @Override
  void run(ParleyClient client) {
    var foundContext = find(new IdLookup(client));
    var id = foundContext.task();
    var before = client.task(foundContext.context(), id);
    if (before.status().terminal()) {
      terminal.out().println("Task " + id + " had already ended: " + before.status().wire());
      return;
    }
    client.cancel(foundContext.context(), id);
    terminal.out().println("Cancellation requested: " + id);
  }

  private IdLookup.FoundContext find(IdLookup idLookup) {
    if (context == null) {
      return idLookup.openTask(task);
    }
    var in = idLookup.context(context);
    return new IdLookup.FoundContext(in, idLookup.task(in, task));
  }
}
