package dev.parley.app;

import dev.parley.client.InboxItem;
import dev.parley.client.Page;
import dev.parley.client.ParleyClient;
import dev.parley.protocol.Json;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/// `parley inbox`.
@Command(
    name = "inbox",
    mixinStandardHelpOptions = true,
    description = "Lists what waits for a person, in all contexts.",
    footer = {"", "Example:", "  parley inbox"})
final class InboxCommand implements Callable<Integer> {

  private static final int PAGE = 200;
  private static final int ITEMS_MAX = 1000;
  private static final int PROMPT_MAX = 60;

  private final Terminal terminal;

  @Mixin private final ServerOptions server = new ServerOptions();

  @Option(names = "--json", description = "One JSON object per line.")
  private boolean json;

  InboxCommand(Terminal terminal) {
    this.terminal = terminal;
  }

  @Override
  public Integer call() {
    try (var client = server.client(terminal)) {
      print(terminal, items(client), json);
    }
    return 0;
  }

  /// All that waits, up to a thousand.
  static List<InboxItem> items(ParleyClient client) {
    return Page.collect(cursor -> client.inbox(cursor, PAGE), ITEMS_MAX);
  }

  static void print(Terminal terminal, List<InboxItem> items, boolean json) {
    if (json) {
      for (var item : items) {
        terminal.out().println(new String(Json.bytes(item), StandardCharsets.UTF_8));
      }
      terminal.out().flush();
    } else if (items.isEmpty()) {
      terminal.out().println("Nothing waits for an answer.");
    } else {
      var table = new Table("CONTEXT", "ID", "WANTS", "PROMPT");
      for (var item : items) {
        table.row(
            item.contextId().value(),
            item.id(),
            wants(item),
            Clean.line(Clean.visible(item.prompt()), PROMPT_MAX));
      }
      table.print(terminal.out(), terminal.outStyle());
    }
  }

  private static String wants(InboxItem item) {
    if (item.inputType() != null) {
      return item.inputType().wire();
    }
    return item.authType() == null ? item.kind() : item.authType().wire();
  }
}
