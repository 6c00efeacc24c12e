package dev.parley.app;

import dev.parley.client.ParleyClient;
import dev.parley.client.Reconnect;
import dev.parley.client.StreamFilter;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Entry;
import dev.parley.protocol.EventJson;
import dev.parley.protocol.Kind;
import dev.parley.protocol.Position;
import java.time.Duration;
import java.time.ZoneId;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/// `parley tail`.
@Command(
    name = "tail",
    mixinStandardHelpOptions = true,
    description = {
      "Shows the events of a context, oldest first, and then each new event live.",
      "Reconnects after a restart of the server. Ends with Ctrl-C or when the context is deleted."
    },
    footer = {
      "",
      "Examples:",
      "  parley tail CONTEXT --after 120",
      "  parley tail CONTEXT --kinds message,task-complete --json",
      "  parley tail CONTEXT --exclude content-delta --no-follow"
    })
final class TailCommand implements Callable<Integer> {

  private static final int PAGE = 1000;
  private static final Duration PATIENCE = Duration.ofDays(30);

  private final Terminal terminal;

  @Mixin private final ServerOptions server = new ServerOptions();

  @Mixin private final ContextArgument context = new ContextArgument();

  @Option(
      names = "--after",
      paramLabel = "N",
      description = "Start after this event (17, or 17.2 for an internal one). Default: 0.")
  private String after = "0";

  @Option(
      names = "--kinds",
      split = ",",
      paramLabel = "KIND",
      description = "Only these kinds, such as message,tool-start.")
  private List<String> kinds = List.of();

  @Option(
      names = "--exclude",
      split = ",",
      paramLabel = "KIND",
      description = "All kinds but these.")
  private List<String> exclude = List.of();

  @Option(names = "--task", paramLabel = "ID", description = "Only this task.")
  private @Nullable String task;

  @Option(names = "--internal", description = "Include internal events.")
  private boolean internal;

  @Option(names = "--json", description = "One JSON object per line.")
  private boolean json;

  @Option(names = "--no-follow", description = "Stop at the end instead of waiting for more.")
  private boolean noFollow;

  TailCommand(Terminal terminal) {
    this.terminal = terminal;
  }

  @Override
  public Integer call() throws InterruptedException {
    var from = Position.parse(after);
    var wanted =
        StreamFilter.ALL
            .onlyKinds(kinds(kinds))
            .withoutKinds(kinds(exclude))
            .withInternal(internal);
    var line = new EventText(terminal.outStyle(), ZoneId.systemDefault());
    var settings = server.settings(terminal);
    // A long outage must not end the command.
    settings = settings.withReconnect(Reconnect.DEFAULT.withPatience(PATIENCE));
    try (var client = new ParleyClient(settings)) {
      var id = context.find(client);
      var filter = task == null ? wanted : wanted.onlyTask(new IdLookup(client).task(id, task));
      if (noFollow) {
        read(client, id, from, filter, line);
      } else {
        try (var stream = client.stream(id, from, filter)) {
          stream.forEach(entry -> print(line, entry));
        }
      }
    }
    return 0;
  }

  private void read(
      ParleyClient client, ContextId id, Position from, StreamFilter filter, EventText line) {
    var position = from;
    for (var more = true; more; ) {
      var page = client.events(id, position, PAGE, filter);
      page.entries().forEach(entry -> print(line, entry));
      more = page.hasMore() && page.position().after(position);
      position = page.position();
    }
  }

  private void print(EventText line, Entry entry) {
    terminal.out().println(json ? EventJson.text(entry) : line.of(entry));
    terminal.out().flush();
    if (terminal.out().checkError()) {
      // The reader has closed the pipe: `parley tail ... | head`.
      throw new CommandExit(0, "");
    }
  }

  private static Set<Kind> kinds(List<String> names) {
    var kinds = EnumSet.noneOf(Kind.class);
    for (var name : names) {
      kinds.add(
          Kind.find(name.strip())
              .orElseThrow(
                  () -> new CommandExit(CommandExit.USAGE, "There is no event kind " + name)));
    }
    return kinds;
  }
}
