package dev.parley.mcp;

import dev.parley.protocol.Json;
import dev.parley.tool.Tool;
import dev.parley.tool.ToolContext;
import dev.parley.tool.ToolResult;
import tools.jackson.databind.node.ObjectNode;

/// A placeholder for the tools of a server that are not known yet: it tries to connect, and returns
/// the reason if it cannot, or starts a sign-in.
final class McpConnectTool implements Tool {

  private final String name;
  private final McpServerConnections mcpServerConnections;
  private final boolean offered;

  /// `offered` is false for a call that waited for a sign-in.
  McpConnectTool(String name, McpServerConnections mcpServerConnections, boolean offered) {
    this.name = name;
    this.mcpServerConnections = mcpServerConnections;
    this.offered = offered;
  }

  @Override
  public boolean offered() {
    return offered;
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public String description() {
    return "The tools of the MCP server "
        + mcpServerConnections.server().name()
        + " are not available now. This tries to connect to it. Returns {tools: [name]}, which can"
        + " be called afterwards, or the reason for the failure.";
  }

  @Override
  public ObjectNode schema() {
    var schema = Json.object().put("type", "object");
    schema.putObject("properties");
    return schema;
  }

  @Override
  public Effect effect() {
    return Effect.PURE;
  }

  @Override
  public boolean concurrent() {
    return true;
  }

  @Override
  public String provider() {
    return "mcp";
  }

  @Override
  public ToolResult call(ObjectNode arguments, ToolContext context) throws InterruptedException {
    return mcpServerConnections.connect(context);
  }
}
