package dev.parley.mcp;

import dev.parley.tool.Tool;
import dev.parley.tool.ToolContext;
import dev.parley.tool.ToolResult;
import java.util.Objects;
import tools.jackson.databind.node.ObjectNode;

/// A tool of an MCP server.
final class McpTool implements Tool {

  private final String name;
  private final ListedTool listedTool;
  private final McpServerConnections mcpServerConnections;

  McpTool(String name, ListedTool listedTool, McpServerConnections mcpServerConnections) {
    this.name = name;
    this.listedTool = listedTool;
    this.mcpServerConnections = mcpServerConnections;
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public String description() {
    return listedTool.description();
  }

  @Override
  public ObjectNode schema() {
    return listedTool.schema().deepCopy();
  }

  @Override
  public Effect effect() {
    return Objects.requireNonNullElse(mcpServerConnections.server().effect(), listedTool.effect());
  }

  /// The configured permission. Otherwise it depends on the effect, so that the claims of a server
  /// cannot override a configured effect.
  @Override
  public Permission permission() {
    return Objects.requireNonNullElse(
        mcpServerConnections.server().permission(), Tool.super.permission());
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
  public String summary(ObjectNode arguments, ToolContext context) {
    var server = "the MCP server " + mcpServerConnections.server().name();
    return effect() == Effect.PURE
        ? "Reads from " + server
        : "Calls " + listedTool.name() + " on " + server + ", which may change something";
  }

  @Override
  public ToolResult call(ObjectNode arguments, ToolContext context) throws InterruptedException {
    return mcpServerConnections.call(listedTool.name(), arguments, context);
  }
}
