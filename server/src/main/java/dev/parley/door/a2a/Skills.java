package dev.parley.door.a2a;

import dev.parley.door.AgentType;
import dev.parley.protocol.Json;
import java.util.ArrayList;
import java.util.List;
import tools.jackson.databind.node.ObjectNode;

/// What an agent can do, as its card lists it: its types of task, or what it is described as.
final class Skills {

  private Skills() {}

  /// @param extended with the tools that it works with
  static List<ObjectNode> of(AgentType agent, boolean extended) {
    var skills = new ArrayList<ObjectNode>();
    for (var type : agent.taskTypes()) {
      var words = type.replace('_', ' ').replace('-', ' ');
      skills.add(
          skill(type, words, agent.name() + " takes tasks of the type " + words + ".", type));
    }
    if (skills.isEmpty()) {
      skills.add(skill(agent.id().value(), agent.name(), Cards.description(agent), agent.type()));
    }
    if (extended) {
      for (var tool : agent.tools()) {
        skills.add(skill("tool-" + tool, tool, agent.name() + " can use " + tool + ".", "tool"));
      }
    }
    return skills;
  }

  private static ObjectNode skill(String id, String name, String description, String tag) {
    var skill = Json.object().put("id", id).put("name", name).put("description", description);
    skill.putArray("tags").add(tag);
    return skill;
  }
}
