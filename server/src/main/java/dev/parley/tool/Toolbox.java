package dev.parley.tool;

import java.util.List;

/// The tools that an agent has at the moment.
@FunctionalInterface
public interface Toolbox {

  /// The tools, each with a name of its own.
  List<Tool> tools();
}
