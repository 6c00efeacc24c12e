package dev.parley.agent;

import dev.parley.protocol.TaskEvent.TaskCreated;
import dev.parley.tool.Tool;
import java.util.List;

/// The tools that whoever gave the task has, and runs.
final class ClientTools {

  /// In a task's metadata: the tools.
  static final String CLIENT_TOOLS = "clientTools";

  private ClientTools() {}

  static List<Tool> of(TaskCreated created) {
    return List.of();
  }
}
