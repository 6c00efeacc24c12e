package dev.parley.agent;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.protocol.AgentTypeId;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

class SubagentsToolTest {

  private static SubagentsTool tool(String... agents) {
    return new SubagentsTool(
        Stream.of(agents).map(agent -> new AgentTool(new AgentTypeId(agent), "about")).toList());
  }

  private static List<String> agents(ObjectNode schema) {
    return schema.at("/properties/tasks/items/properties/agentId/enum").values().stream()
        .map(JsonNode::asString)
        .toList();
  }

  @Test
  void the_tools_of_two_agents_have_schemas_of_their_own() {
    var schema = tool("b", "c").schema();
    var other = tool("a").schema();

    assertThat(agents(schema)).containsExactly("b", "c");
    assertThat(agents(other)).containsExactly("a");
  }
}
