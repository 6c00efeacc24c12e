package dev.parley.app;

import dev.parley.client.ParleyClient;
import dev.parley.protocol.ClusterView;
import dev.parley.protocol.ClusterView.ClusterLoad;
import dev.parley.protocol.Rejection;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/// `parley cluster`.
@Command(
    name = "cluster",
    mixinStandardHelpOptions = true,
    description = {
      "Lists the servers that share a database.",
      "One of them is active; the others forward requests to it and take over if it ends."
    },
    footer = {
      "",
      "Examples:",
      "  parley cluster",
      "  parley cluster drain 3       let another server take over from server 3",
      "",
      "A drained server does not take over again until it is restarted."
    })
final class ClusterCommand extends ServerCommand {

  private static final int TEXT_MAX = 100;

  @Option(names = "--json", description = "One JSON object per line.")
  private boolean json;

  @Parameters(
      index = "0",
      arity = "0..1",
      paramLabel = "drain",
      description =
          "Requests server NODE to hand over its tasks at once, and not to take over again.")
  private @Nullable String action;

  @Parameters(index = "1", arity = "0..1", paramLabel = "NODE", description = "Its number.")
  private @Nullable Long node;

  ClusterCommand(Terminal terminal) {
    super(terminal);
  }

  @Override
  void checkArguments() {
    if (action != null && !action.equals("drain")) {
      throw new CommandExit(
          CommandExit.USAGE, "Unknown action " + action + "; the only one is: drain NODE");
    }
    if (action != null && node == null) {
      throw new CommandExit(
          CommandExit.USAGE, "Name the server: parley cluster drain NODE (see parley cluster)");
    }
  }

  @Override
  void run(ParleyClient client) {
    ClusterView cluster;
    try {
      cluster = node == null ? client.cluster() : client.drain(node);
    } catch (Rejection.NotFound none) {
      throw new CommandExit(
          CommandExit.FAILED,
          node == null
              ? "This server belongs to no cluster. Start servers with --db to form one."
              : String.valueOf(none.getMessage()));
    }
    if (json) {
      printJson(cluster.nodes());
    } else {
      table(cluster).print(terminal.out(), terminal.outStyle());
    }
  }

  static AlignedTable table(ClusterView cluster) {
    var table = new AlignedTable("NODE", "ROLE", "ADDRESS", "VERSION", "SEEN", "TASKS", "STREAMS");
    for (var node : cluster.nodes()) {
      var load = node.load();
      table.row(
          Long.toString(node.id()),
          node.drain() ? node.role() + " (drained)" : node.role(),
          TextSanitizer.line(node.address(), TEXT_MAX),
          TextSanitizer.line(node.version(), TEXT_MAX),
          node.secondsSilent() < 1
              ? "now"
              : HumanUnits.text(Duration.ofSeconds(node.secondsSilent())) + " ago",
          load == null ? "" : tasks(load),
          load == null ? "" : Long.toString(load.streams()));
    }
    return table;
  }

  private static String tasks(ClusterLoad load) {
    var queued = load.tasksQueued() == 0 ? "" : ", %d queued".formatted(load.tasksQueued());
    return load.tasksRunning() + " running" + queued;
  }
}
