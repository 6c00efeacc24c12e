package dev.parley.app;

import dev.parley.client.ContextInfo;
import dev.parley.client.Page;
import dev.parley.protocol.Json;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/// `parley contexts`.
@Command(
    name = "contexts",
    mixinStandardHelpOptions = true,
    description = "Lists contexts, most recently changed first.",
    footer = {"", "Example:", "  parley contexts --limit 5"})
final class ContextsCommand implements Callable<Integer> {

  private static final int PAGE = 200;
  private static final int TITLE_MAX = 60;

  private final Terminal terminal;

  @Mixin private final ServerOptions server = new ServerOptions();

  @Option(
      names = "--limit",
      paramLabel = "N",
      description = "The maximum number to list. Default: 100.")
  private int limit = 100;

  @Option(names = "--json", description = "One JSON object per line.")
  private boolean json;

  ContextsCommand(Terminal terminal) {
    this.terminal = terminal;
  }

  @Override
  public Integer call() {
    var most = LimitOption.check(limit);
    try (var client = server.client(terminal)) {
      var contexts = Page.collect(cursor -> client.contexts(cursor, Math.min(most, PAGE)), most);
      if (json) {
        contexts.forEach(
            context ->
                terminal.out().println(new String(Json.bytes(context), StandardCharsets.UTF_8)));
      } else if (contexts.isEmpty()) {
        terminal.err().println("There are no contexts yet. Start one with: parley chat");
      } else {
        var alignedTable =
            new AlignedTable("CONTEXT", "UPDATED", "MESSAGES", "OPEN TASKS", "TITLE");
        contexts.forEach(context -> add(alignedTable, context));
        alignedTable.print(terminal.out(), terminal.outStyle());
      }
    }
    return 0;
  }

  private static void add(AlignedTable alignedTable, ContextInfo context) {
    alignedTable.row(
        context.contextId().value(),
        AlignedTable.time(context.updatedAt()),
        Long.toString(context.messageCount()),
        Long.toString(context.openTasks()),
        context.title() == null ? "" : TextSanitizer.line(context.title(), TITLE_MAX));
  }
}
