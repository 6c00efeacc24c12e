package dev.parley.agent;

import dev.parley.protocol.TaskEvent.TaskCreated;
import dev.parley.tool.ClientTool;
import dev.parley.tool.Tool;
import java.util.ArrayList;
import java.util.List;
import tools.jackson.databind.node.ObjectNode;

/// The tools that the client provides and runs.
public final class ClientTools {

  private ClientTools() {}

  static List<Tool> of(TaskCreated created) {
    var tools = new ArrayList<Tool>();
    for (var tool : created.facts().clientTools()) {
      if (tool.path("schema") instanceof ObjectNode schema) {
        tools.add(
            new ClientTool(
                tool.path("name").asString(), tool.path("description").asString(""), schema));
      }
    }
    return tools;
  }
}
