package dev.parley.app;

import dev.parley.client.AgentTypeInfo;
import dev.parley.protocol.Json;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/// `parley agents`.
@Command(
    name = "agents",
    mixinStandardHelpOptions = true,
    description = "Lists the agents that accept messages.",
    footer = {"", "Example:", "  parley agents"})
final class AgentsCommand implements Callable<Integer> {

  private static final int TEXT_MAX = 100;

  private final Terminal terminal;

  @Mixin private final ServerOptions server = new ServerOptions();

  @Option(names = "--json", description = "One JSON object per line.")
  private boolean json;

  AgentsCommand(Terminal terminal) {
    this.terminal = terminal;
  }

  @Override
  public Integer call() {
    try (var client = server.client(terminal)) {
      var agents = client.agentTypes();
      if (json) {
        for (var agent : agents) {
          terminal.out().println(new String(Json.bytes(agent), StandardCharsets.UTF_8));
        }
        terminal.out().flush();
      } else {
        table(agents).print(terminal.out(), terminal.outStyle());
      }
    }
    return 0;
  }

  static AlignedTable table(List<AgentTypeInfo> agents) {
    var alignedTable = new AlignedTable("AGENT", "TYPE", "DESCRIPTION");
    for (var agent : agents) {
      var description = agent.description() == null ? agent.name() : agent.description();
      alignedTable.row(
          agent.id().value(),
          agent.type() == null ? "" : TextSanitizer.line(agent.type(), TEXT_MAX),
          description == null ? "" : TextSanitizer.line(description, TEXT_MAX));
    }
    return alignedTable;
  }
}
