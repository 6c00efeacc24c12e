package dev.parley.mcp;

import dev.parley.tool.Tool;
import dev.parley.tool.Toolbox;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

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
}
