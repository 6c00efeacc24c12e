package dev.parley.tool;

import java.util.List;

/// The tools that an agent can call. They may change while the agent works, because MCP servers
/// connect, disconnect and change their tools.
@FunctionalInterface
public interface Toolbox {

  /// The current tools, for work on behalf of `owner`; no two have the same name.
  ///
  /// May wait briefly for servers that are starting.
  List<Tool> tools(String owner) throws InterruptedException;

  /// A toolbox that never changes.
  static Toolbox of(List<Tool> tools) {
    var fixed = List.copyOf(tools);
    return _ -> fixed;
  }
}
