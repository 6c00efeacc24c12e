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
  record Choice(Remote remote, Optional<String> tool) {
    boolean includes(Listed listed) {
      return tool.isEmpty() || tool.get().equals(listed.name());
    }
  }

  /// A tool of a server, or the tool that connects to the server, which is offered if the tools are
  /// not known.
  private record Found(Remote remote, Optional<Listed> listed, boolean offered) {
    Names.Place place() {
      return new Names.Place(remote.server().name(), listed.map(Listed::name).orElse("connect"));
    }

    Tool named(String name) {
      return listed.isPresent()
          ? new McpTool(name, listed.get(), remote)
          : new ConnectTool(name, remote, offered);
    }
  }

  private final List<Choice> choices;
  private final Set<String> taken;

  McpToolbox(List<Choice> choices, Set<String> taken) {
    this.choices = choices;
    this.taken = taken;
  }

  @Override
  public List<Tool> tools(String owner) throws InterruptedException {
    var found = new LinkedHashSet<Found>();
    for (var choice : choices) {
      var known = choice.remote().tools(owner);
      if (known.isEmpty()) {
        found.add(new Found(choice.remote(), Optional.empty(), true));
      } else {
        known.get().stream()
            .filter(choice::includes)
            .forEach(listed -> found.add(new Found(choice.remote(), Optional.of(listed), true)));
        if (choice.remote().signsIn()) {
          found.add(new Found(choice.remote(), Optional.empty(), false));
        }
      }
    }
    var places = found.stream().map(Found::place).toList();
    var names = Names.of(places, taken).iterator();
    var tools = new ArrayList<Tool>();
    found.forEach(each -> tools.add(each.named(names.next())));
    return List.copyOf(tools);
  }
}
