package dev.parley.mcp;

import dev.parley.protocol.Json;
import dev.parley.tool.Tool;
import dev.parley.tool.ToolContext;
import dev.parley.tool.ToolResult;
import dev.parley.tool.Toolbox;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import tools.jackson.databind.node.ObjectNode;

/// The current tools of some servers.
final class McpToolbox implements Toolbox {

  /// All tools of a server, or one.
  record ToolSelection(McpServerConnections remote, Optional<String> tool) {
    boolean includes(ListedTool listedTool) {
      return tool.isEmpty() || tool.get().equals(listedTool.name());
    }
  }

  /// A tool of a server, or the tool that connects to the server, which is offered if the tools are
  /// not known.
  private record FoundTool(
      McpServerConnections remote, Optional<ListedTool> listed, boolean offered) {
    McpToolNames.ToolOrigin origin() {
      return new McpToolNames.ToolOrigin(
          remote.server().name(), listed.map(ListedTool::name).orElse("connect"));
    }

    Tool named(String name) {
      return listed.isPresent()
          ? new McpTool(name, listed.get(), remote)
          : new McpConnectTool(name, remote, offered);
    }
  }

  private final List<ToolSelection> choices;
  private final Set<String> taken;

  McpToolbox(List<ToolSelection> choices, Set<String> taken) {
    this.choices = choices;
    this.taken = taken;
  }

  @Override
  public List<Tool> tools(String owner) throws InterruptedException {
    var found = new LinkedHashSet<FoundTool>();
    for (var toolSelection : choices) {
      var known = toolSelection.remote().tools(owner);
      if (known.isEmpty()) {
        found.add(new FoundTool(toolSelection.remote(), Optional.empty(), true));
      } else {
        known.get().stream()
            .filter(toolSelection::includes)
            .forEach(
                listedTool ->
                    found.add(
                        new FoundTool(toolSelection.remote(), Optional.of(listedTool), true)));
        if (toolSelection.remote().mayRequireSignIn()) {
          found.add(new FoundTool(toolSelection.remote(), Optional.empty(), false));
        }
      }
    }
    var places = found.stream().map(FoundTool::origin).toList();
    var names = McpToolNames.of(places, taken).iterator();
    var tools = new ArrayList<Tool>();
    found.forEach(each -> tools.add(each.named(names.next())));
    return List.copyOf(tools);
  }

  /// A tool of an MCP server.
  private record McpTool(String name, ListedTool listed, McpServerConnections remote)
      implements Tool {

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

    /// The configured permission. Otherwise it depends on the effect, so that the claims of a
    /// server cannot override a configured effect.
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

  /// A placeholder for the tools of a server that are not known yet: it tries to connect, and
  /// returns the reason if it cannot, or starts a sign-in. `offered` is false for a call that
  /// waited for a sign-in.
  private record McpConnectTool(String name, McpServerConnections remote, boolean offered)
      implements Tool {

    @Override
    public String description() {
      return "The tools of the MCP server "
          + remote.server().name()
          + " are not available now. This tries to connect to it. Returns {tools: [name]}, which"
          + " can be called afterwards, or the reason for the failure.";
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
      return remote.connect(context);
    }
  }
}
