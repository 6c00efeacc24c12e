package dev.parley.supervisor;

import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.Json;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.RoutingStrategy;
import dev.parley.protocol.WireName;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// Which agents act on a message, and how they work together. The agent with the lowest priority
/// number acts first.
///
/// `fallback` is the reason if rules decided instead of the model.
public record RoutingDecision(
    RoutingStrategy strategy,
    List<AgentChoice> agents,
    String reasoning,
    double confidence,
    @Nullable String fallback) {

  /// One agent and its task.
  public record AgentChoice(
      AgentTypeId agentId, String agentName, String taskDescription, int priority) {}

  public RoutingDecision {
    agents = List.copyOf(agents);
    if (agents.isEmpty()) {
      throw new IllegalArgumentException("at least one agent must act");
    }
  }

  /// The same agents with another strategy.
  RoutingDecision with(RoutingStrategy wanted) {
    return new RoutingDecision(
        wanted,
        isOneAgent(wanted) ? agents.subList(0, 1) : agents,
        reasoning,
        confidence,
        fallback);
  }

  boolean delegatesToOneAgent() {
    return isOneAgent(strategy);
  }

  private static boolean isOneAgent(RoutingStrategy strategy) {
    return switch (strategy) {
      case SINGLE, DELEGATE -> true;
      case PARALLEL, SEQUENTIAL -> false;
    };
  }

  /// The JSON for the metadata of the supervisor's status.
  ObjectNode json() {
    var json = Json.object().put("strategy", strategy.wire());
    var list = json.putArray("agents");
    for (var agent : agents) {
      list.addObject()
          .put("agentId", agent.agentId().value())
          .put("agentName", agent.agentName())
          .put("taskDescription", agent.taskDescription())
          .put("priority", agent.priority());
    }
    json.put("reasoning", reasoning).put("confidence", confidence);
    if (fallback != null) {
      json.put("fallback", fallback);
    }
    return json;
  }

  /// Reads a decision from the log.
  static RoutingDecision read(JsonNode json) {
    return new RoutingDecision(
        WireName.parse(RoutingStrategy.class, "strategy", json.path("strategy").asString()),
        json.path("agents")
            .valueStream()
            .map(
                agent ->
                    new AgentChoice(
                        new AgentTypeId(agent.path("agentId").asString()),
                        agent.path("agentName").asString(),
                        agent.path("taskDescription").asString(),
                        agent.path("priority").asInt()))
            .toList(),
        json.path("reasoning").asString(),
        json.path("confidence").asDouble(),
        json.has("fallback") ? json.path("fallback").asString() : null);
  }

  /// Parses and validates the decision of a model.
  ///
  /// @throws Rejection.Invalid with the reason, if the decision cannot be used
  static RoutingDecision parse(
      JsonNode json, Map<AgentTypeId, TeamAgent> team, String request, int agentsMax) {
    var routingStrategy =
        WireName.parse(RoutingStrategy.class, "strategy", json.path("strategy").asString(""));
    var agents =
        json.path("agents").valueStream().map(agent -> choice(agent, team, request)).toList();
    if (agents.isEmpty()) {
      throw new Rejection.Invalid("the reply names no agent");
    }
    if (agents.size() > agentsMax) {
      throw new Rejection.Invalid("the reply names more than " + agentsMax + " agents");
    }
    var sorted =
        agents.stream()
            .sorted(Comparator.comparingInt(AgentChoice::priority))
            .limit(isOneAgent(routingStrategy) ? 1 : agents.size())
            .toList();
    var confidence = Math.clamp(json.path("confidence").asDouble(0), 0.0, 1.0);
    return new RoutingDecision(
        routingStrategy, sorted, json.path("reasoning").asString(""), confidence, null);
  }

  private static AgentChoice choice(
      JsonNode json, Map<AgentTypeId, TeamAgent> team, String request) {
    var id = json.path("agentId").asString("");
    var teamAgent =
        team.values().stream()
            .filter(known -> known.id().value().equals(id))
            .findFirst()
            .orElseThrow(() -> new Rejection.Invalid("the reply names an unknown agent: " + id));
    var description = json.path("taskDescription").asString("");
    return new AgentChoice(
        teamAgent.id(),
        teamAgent.name(),
        description.isBlank() ? request : description,
        json.path("priority").asInt(1));
  }

  /// The schema of a model's decision.
  static ObjectNode schema(Map<AgentTypeId, TeamAgent> team) {
    var schema = Json.object().put("type", "object");
    var properties = schema.putObject("properties");
    var strategies = properties.putObject("strategy").put("type", "string").putArray("enum");
    for (var routingStrategy : RoutingStrategy.values()) {
      strategies.add(routingStrategy.wire());
    }
    var agents = properties.putObject("agents").put("type", "array");
    var agent = agents.putObject("items").put("type", "object");
    var about = agent.putObject("properties");
    var ids = about.putObject("agentId").put("type", "string").putArray("enum");
    team.keySet().forEach(id -> ids.add(id.value()));
    about.putObject("agentName").put("type", "string");
    about.putObject("taskDescription").put("type", "string");
    about.putObject("priority").put("type", "integer");
    agent
        .putArray("required")
        .add("agentId")
        .add("agentName")
        .add("taskDescription")
        .add("priority");
    agent.put("additionalProperties", false);
    properties.putObject("reasoning").put("type", "string");
    properties.putObject("confidence").put("type", "number");
    schema.putArray("required").add("strategy").add("agents").add("reasoning").add("confidence");
    return schema.put("additionalProperties", false);
  }
}
