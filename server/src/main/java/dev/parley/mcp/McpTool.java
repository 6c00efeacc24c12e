package dev.parley.mcp;

import dev.parley.tool.Tool;
import dev.parley.tool.ToolContext;
import dev.parley.tool.ToolResult;
import java.util.Objects;
import tools.jackson.databind.node.ObjectNode;

/// A tool of an MCP server.
final class McpTool implements Tool {

  private final String name;
  private final Listed listed;
  private final Remote remote;

  McpTool(String name, Listed listed, Remote remote) {
    this.name = name;
    this.listed = listed;
    this.remote = remote;
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public String description() {
    return listed.description();
  }

  @Override
  public ObjectNode schema() {
    return listed.schema().deepCopy();
  }

  @Override
  public Effect effect() {
    return Objects.requireNonNullElse(remote.server().effect(), listed.effect());
  }

  /// The configured permission. Otherwise it depends on the effect, so that the claims of a server
  /// cannot override a configured effect.
  @Override
  public Permission permission() {
    return Objects.requireNonNullElse(remote.server().permission(), Tool.super.permission());
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
    var server = "the MCP server " + remote.server().name();
    return effect() == Effect.PURE
        ? "Reads from " + server
        : "Calls " + listed.name() + " on " + server + ", which may change something";
  }

  @Override
  public ToolResult call(ObjectNode arguments, ToolContext context) throws InterruptedException {
    return remote.call(listed.name(), arguments, context);
  }
}
