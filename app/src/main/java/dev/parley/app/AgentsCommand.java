package dev.parley.app;

import dev.parley.client.ParleyClient;
import dev.parley.protocol.AgentTypeView;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/// `parley agents`.
@Command(
    name = "agents",
    mixinStandardHelpOptions = true,
    description = "Lists the agents that accept messages.",
    footer = {"", "Example:", "  parley agents"})
final class AgentsCommand extends ServerCommand {

  private static final int TEXT_MAX = 100;

  @Option(names = "--json", description = "One JSON object per line.")
  private boolean json;

  AgentsCommand(Terminal terminal) {
    super(terminal);
  }

  @Override
  void run(ParleyClient client) {
    var agents = client.agentTypes();
    if (json) {
      printJson(agents);
    } else {
      table(agents).print(terminal.out(), terminal.outStyle());
    }
  }

  static AlignedTable table(List<AgentTypeView> agents) {
    var alignedTable = new AlignedTable("AGENT", "TYPE", "DESCRIPTION");
    for (var agent : agents) {
      var description = agent.description() == null ? agent.name() : agent.description();
      alignedTable.row(
          agent.id().value(),
          TextSanitizer.line(agent.type(), TEXT_MAX),
          TextSanitizer.line(description, TEXT_MAX));
    }
    return alignedTable;
  }
}
