package dev.parley.app;

import java.io.IOException;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/// `parley mcp`.
@Command(
    name = "mcp",
    mixinStandardHelpOptions = true,
    description = {
      "Serves the agents of a running server as MCP tools on standard input and output.",
      "For programs that start an MCP server as a command. Calls continue after a restart of the",
      "Parley server. Programs that speak streamable HTTP can use the address /mcp instead."
    },
    footer = {
      "",
      "Example of a client's configuration:",
      "  {\"mcpServers\": {\"parley\": {\"command\": \"parley\", \"args\": [\"mcp\"]}}}"
    })
final class McpCommand implements Callable<Integer> {

  private final Terminal terminal;

  @Mixin private final ServerOptions server = new ServerOptions();

  McpCommand(Terminal terminal) {
    this.terminal = terminal;
  }

  @Override
  public Integer call() throws IOException {
    var settings = server.settings(terminal);
    try (var bridge = new McpStdioBridge(settings, terminal.out())) {
      bridge.run(terminal.in());
    }
    return 0;
  }
}
