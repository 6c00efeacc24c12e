package dev.parley.agent;

import dev.parley.protocol.TaskEvent.TaskCreated;
import dev.parley.tool.ClientTool;
import dev.parley.tool.Tool;
import java.util.ArrayList;
import java.util.List;
import tools.jackson.databind.node.ObjectNode;

/// The tools that the client provides and runs.
public final class ClientTools {

  /// In a task's metadata: the tools, each with a name, a description and the schema of its
  /// arguments.
  public static final String CLIENT_TOOLS = "clientTools";

  private ClientTools() {}

  static List<Tool> of(TaskCreated created) {
    var tools = new ArrayList<Tool>();
    if (created.metadata() != null) {
      for (var tool : created.metadata().path(CLIENT_TOOLS)) {
        if (tool.path("schema") instanceof ObjectNode schema) {
          tools.add(
              new ClientTool(
                  tool.path("name").asString(), tool.path("description").asString(""), schema));
        }
      }
    }
    return tools;
  }
}
