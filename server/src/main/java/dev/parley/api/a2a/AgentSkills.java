package dev.parley.api.a2a;

import dev.parley.http.AgentTypeView;
import dev.parley.protocol.Json;
import java.util.ArrayList;
import java.util.List;
import tools.jackson.databind.node.ObjectNode;

/// The skills in an agent's card: its task types, or its description.
final class AgentSkills {

  private AgentSkills() {}

  /// @param extended whether to list the agent's tools, too
  static List<ObjectNode> of(AgentTypeView agent, boolean extended) {
    var skills = new ArrayList<ObjectNode>();
    for (var type : agent.taskTypes()) {
      var words = type.replace('_', ' ').replace('-', ' ');
      skills.add(
          skill(type, words, agent.name() + " takes tasks of the type " + words + ".", type));
    }
    if (skills.isEmpty()) {
      skills.add(
          skill(agent.id().value(), agent.name(), AgentCards.description(agent), agent.type()));
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
