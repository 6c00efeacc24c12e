package dev.parley.app;

import dev.parley.client.ParleyClient;
import dev.parley.protocol.PendingView;
import dev.parley.protocol.ResultPage;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/// `parley inbox`.
@Command(
    name = "inbox",
    mixinStandardHelpOptions = true,
    description = "Lists the open questions and sign-ins of all contexts, and how to answer them.",
    footer = {"", "Example:", "  parley inbox"})
final class InboxCommand extends ServerCommand {

  private static final int PAGE = 200;
  private static final int ITEMS_MAX = 1000;
  private static final int PREVIEW_LINES = 20;

  @Option(names = "--json", description = "One JSON object per line.")
  private boolean json;

  InboxCommand(Terminal terminal) {
    super(terminal);
  }

  @Override
  void run(ParleyClient client) {
    var items = items(client);
    if (json) {
      printJson(items);
    } else {
      print(terminal, items, PREVIEW_LINES, server.commandLineOptions());
    }
  }

  /// All open questions and sign-ins, up to [#ITEMS_MAX].
  static List<PendingView> items(ParleyClient client) {
    return ResultPage.collect(cursor -> client.inbox(cursor, PAGE), ITEMS_MAX);
  }

  /// Prints each item with its context, its question, and the commands that answer it.
  static void print(Terminal terminal, List<PendingView> items, int previewMax, String server) {
    var out = terminal.out();
    if (items.isEmpty()) {
      out.println("There are no open questions.");
    }
    for (var item : items) {
      var asked = AskedQuestion.of(item);
      var title = "%s  %s  %s".formatted(asked.context(), asked.id(), asked.answerType());
      var until = item.expiresAt() == null ? "" : "  until " + AlignedTable.time(item.expiresAt());
      out.println(terminal.outStyle().bold(title) + until);
      asked.lines(previewMax).forEach(out::println);
      out.println("  Answer with:");
      AnswerCommandLine.of(asked, server).forEach(line -> out.println("    " + line));
      out.println();
    }
    out.flush();
  }
}
