package dev.parley.tool;

import java.util.List;

/// What an agent can call. It may change while the agent works: servers come, go and change their minds.
@FunctionalInterface
public interface Toolbox {

  /// The tools as they are now, for work on behalf of `owner`; no two have the same name.
  ///
  /// May wait a little for what is just starting.
  List<Tool> tools(String owner) throws InterruptedException;

  /// One that never changes.
  static Toolbox of(List<Tool> tools) {
    var fixed = List.copyOf(tools);
    return _ -> fixed;
  }
}
