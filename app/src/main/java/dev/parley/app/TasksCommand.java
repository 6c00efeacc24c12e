package dev.parley.app;

import dev.parley.client.ParleyClient;
import dev.parley.protocol.ResultPage;
import dev.parley.protocol.TaskView;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/// `parley tasks`.
@Command(
    name = "tasks",
    mixinStandardHelpOptions = true,
    description = "Lists the tasks of a context, oldest first.",
    footer = {"", "Example:", "  parley tasks CONTEXT --json"})
final class TasksCommand extends ServerCommand {

  private static final int PAGE = 200;
  private static final int PROMPT_MAX = 50;

  @Mixin private final ContextArgument context = new ContextArgument();

  @Option(
      names = "--limit",
      paramLabel = "N",
      description = "The maximum number to list. Default: 1000.")
  private int limit = 1000;

  @Option(names = "--json", description = "One JSON object per line.")
  private boolean json;

  TasksCommand(Terminal terminal) {
    super(terminal);
  }

  @Override
  void checkArguments() {
    checkLimit(limit);
  }

  @Override
  void run(ParleyClient client) {
    var id = context.find(client);
    var tasks =
        ResultPage.collect(cursor -> client.tasks(id, cursor, Math.min(limit, PAGE)), limit);
    if (json) {
      printJson(tasks);
    } else {
      table(tasks).print(terminal.out(), terminal.outStyle());
    }
  }

  static AlignedTable table(List<TaskView> tasks) {
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

  private static String prompt(TaskView task) {
    var prompt = task.prompt();
    var error = task.error();
    return (task.parentTaskId() == null ? "" : "> ")
        + (prompt == null ? "" : TextSanitizer.line(prompt, PROMPT_MAX))
        + (error == null
            ? ""
            : " (" + TextSanitizer.line(error.code() + ": " + error.message(), PROMPT_MAX) + ")");
  }
}
