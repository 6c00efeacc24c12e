package dev.parley.app;

import dev.parley.client.ParleyClient;
import dev.parley.protocol.ContextView;
import dev.parley.protocol.ResultPage;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/// `parley contexts`.
@Command(
    name = "contexts",
    mixinStandardHelpOptions = true,
    description = "Lists contexts, most recently changed first.",
    footer = {"", "Example:", "  parley contexts --limit 5"})
final class ContextsCommand extends ServerCommand {

  private static final int PAGE = 200;
  private static final int TITLE_MAX = 60;

  @Option(
      names = "--limit",
      paramLabel = "N",
      description = "The maximum number to list. Default: 100.")
  private int limit = 100;

  @Option(names = "--json", description = "One JSON object per line.")
  private boolean json;

  ContextsCommand(Terminal terminal) {
    super(terminal);
  }

  @Override
  void checkArguments() {
    checkLimit(limit);
  }

  @Override
  void run(ParleyClient client) {
    var contexts =
        ResultPage.collect(cursor -> client.contexts(cursor, Math.min(limit, PAGE)), limit);
    if (json) {
      printJson(contexts);
    } else if (contexts.isEmpty()) {
      terminal.err().println("There are no contexts yet. Start one with: parley chat");
    } else {
      var alignedTable = new AlignedTable("CONTEXT", "UPDATED", "MESSAGES", "OPEN TASKS", "TITLE");
      contexts.forEach(context -> add(alignedTable, context));
      alignedTable.print(terminal.out(), terminal.outStyle());
    }
  }

  private static void add(AlignedTable alignedTable, ContextView context) {
    alignedTable.row(
        context.contextId().value(),
        AlignedTable.time(context.updatedAt()),
        Long.toString(context.messageCount()),
        Long.toString(context.openTasks()),
        context.title() == null ? "" : TextSanitizer.line(context.title(), TITLE_MAX));
  }
}
