package dev.parley.api.agui;

import dev.parley.http.AgentTypeView;
import dev.parley.http.ApiDependencies;
import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.Json;
import java.util.List;
import tools.jackson.databind.node.ObjectNode;

/// Describes what an agent can do, as AG-UI capabilities.
final class AgUiCapabilities {

  private static final String AGENT_TOOL_PREFIX = "agent:";

  private final ApiDependencies parts;

  AgUiCapabilities(ApiDependencies parts) {
    this.parts = parts;
  }

  ObjectNode of(AgentTypeId id) {
    var agent =
        parts.agentTypes().stream().filter(type -> type.id().equals(id)).findFirst().orElseThrow();
    var json = Json.object();
    identity(json.putObject("identity"), agent);
    json.putObject("transport")
        .put("streaming", true)
        .put("websocket", false)
        .put("httpBinary", false)
        .put("pushNotifications", false)
        .put("resumable", true);
    var thinks = agent.type().equals("llm") || agent.type().equals("supervisor");
    json.putObject("tools")
        .put("supported", thinks || !agent.tools().isEmpty())
        .put("parallelCalls", true)
        .put("clientProvided", thinks);
    json.putObject("state").put("snapshots", true).put("deltas", true).put("persistentState", true);
    agents(json.putObject("multiAgent"), agent);
    json.putObject("reasoning")
        .put("supported", true)
        .put("streaming", true)
        .put("encrypted", false);
    var input = json.putObject("multimodal").putObject("input");
    List.of("image", "audio", "video", "pdf", "file").forEach(kind -> input.put(kind, false));
    json.putObject("execution").put("maxExecutionTime", parts.taskTimeout().toMillis());
    json.putObject("humanInTheLoop")
        .put("supported", true)
        .put("approvals", true)
        .put("interrupts", true)
        .put("approveWithEdits", true);
    json.putObject("custom")
        .putObject("parley")
        .put("events", "/ag-ui/" + id + "/threads/{threadId}/events")
        .put("cancel", "/ag-ui/" + id + "/threads/{threadId}/cancel");
    return json;
  }

  private static void identity(ObjectNode json, AgentTypeView agent) {
    json.put("name", agent.name()).put("type", "parley");
    if (agent.description() != null) {
      json.put("description", agent.description());
    }
    json.putObject("metadata").put("agentId", agent.id().value()).put("kind", agent.type());
  }

  private void agents(ObjectNode json, AgentTypeView agent) {
    var below =
        parts.agentTypes().stream()
            .filter(
                other ->
                    agent.type().equals("supervisor")
                        ? !other.id().equals(agent.id())
                        : agent.tools().contains(AGENT_TOOL_PREFIX + other.id()))
            .toList();
    json.put("supported", !below.isEmpty()).put("delegation", !below.isEmpty());
    if (!below.isEmpty()) {
      var all = json.putArray("subagents");
      for (var other : below) {
        var one = all.addObject().put("name", other.id().value());
        if (other.description() != null) {
          one.put("description", other.description());
        }
      }
    }
  }
}
