package dev.parley.app;

import dev.parley.client.Page;
import dev.parley.client.TaskInfo;
import dev.parley.protocol.Json;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/// `parley tasks`.
@Command(
    name = "tasks",
    mixinStandardHelpOptions = true,
    description = "Lists the tasks of a context, oldest first.",
    footer = {"", "Example:", "  parley tasks CONTEXT --json"})
final class TasksCommand implements Callable<Integer> {

  private static final int PAGE = 200;
  private static final int PROMPT_MAX = 50;

  private final Terminal terminal;

  @Mixin private final ServerOptions server = new ServerOptions();

  @Mixin private final ContextArgument context = new ContextArgument();

  @Option(
      names = "--limit",
      paramLabel = "N",
      description = "The maximum number to list. Default: 1000.")
  private int limit = 1000;

  @Option(names = "--json", description = "One JSON object per line.")
  private boolean json;

  TasksCommand(Terminal terminal) {
    this.terminal = terminal;
  }

  @Override
  public Integer call() {
    var most = LimitOption.check(limit);
    try (var client = server.client(terminal)) {
      var id = context.find(client);
      var tasks = Page.collect(cursor -> client.tasks(id, cursor, Math.min(most, PAGE)), most);
      if (json) {
        tasks.forEach(
            task -> terminal.out().println(new String(Json.bytes(task), StandardCharsets.UTF_8)));
      } else {
        table(tasks).print(terminal.out(), terminal.outStyle());
      }
    }
    return 0;
  }

  static AlignedTable table(List<TaskInfo> tasks) {
    var alignedTable = new AlignedTable("TASK", "STATUS", "AGENT", "STARTED", "TOOK", "PROMPT");
    for (var task : tasks) {
      var ended = task.endedAt();
      alignedTable.row(
          task.taskId().value(),
          task.status().wire(),
          task.agentId().value(),
          AlignedTable.time(task.createdAt()),
          ended == null ? "" : HumanUnits.between(task.createdAt(), ended),
          prompt(task));
    }
    return alignedTable;
  }

  private static String prompt(TaskInfo task) {
    var prompt = task.prompt();
    var error = task.error();
    return (task.parentTaskId() == null ? "" : "> ")
        + (prompt == null ? "" : TextSanitizer.line(prompt, PROMPT_MAX))
        + (error == null
            ? ""
            : " (" + TextSanitizer.line(error.code() + ": " + error.message(), PROMPT_MAX) + ")");
  }
}
