package dev.parley.api.openai;

import dev.parley.api.ApiDependencies;
import dev.parley.http.Reply;
import dev.parley.http.Request;
import dev.parley.http.ResponseDescription;
import dev.parley.http.Route;
import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.AgentTypeView;
import dev.parley.protocol.Json;
import dev.parley.protocol.Rejection;
import java.util.List;
import java.util.stream.Collectors;
import tools.jackson.databind.node.ObjectNode;

/// `/v1/models`: the agents of the server, which clients see as models.
final class AgentModels {

  /// All routes of this API begin with it.
  static final String PREFIX = "/v1";

  private static final String JSON = "application/json";

  private final ApiDependencies parts;

  AgentModels(ApiDependencies parts) {
    this.parts = parts;
  }

  List<Route> routes() {
    return List.of(
        Route.get(
            PREFIX + "/models",
            "Lists the agents as models, as OpenAI does",
            ResponseDescription.other(JSON),
            this::list),
        Route.get(
            PREFIX + "/models/{model}",
            "Shows an agent as a model",
            ResponseDescription.other(JSON),
            this::show));
  }

  private Reply list(Request request) {
    var json = Json.object().put("object", "list");
    var data = json.putArray("data");
    parts.agentTypes().stream()
        .filter(agent -> permitted(request, agent.id()))
        .forEach(agent -> data.add(model(agent)));
    return new Reply.Json(200, json);
  }

  private boolean permitted(Request request, AgentTypeId agent) {
    try {
      parts.access().checkAgent(request.caller(), agent);
      return true;
    } catch (Rejection.Forbidden other) {
      return false;
    }
  }

  private Reply show(Request request) {
    var id = request.path("model");
    return new Reply.Json(
        200,
        parts.agentTypes().stream()
            .filter(agent -> agent.id().value().equals(id))
            .findFirst()
            .map(AgentModels::model)
            .orElseThrow(() -> unknown(id)));
  }

  private static ObjectNode model(AgentTypeView agent) {
    var json = Json.object().put("id", agent.id().value()).put("object", "model");
    json.put("created", 0).put("owned_by", "parley").put("name", agent.name());
    Json.putPresent(json, "description", agent.description());
    return json;
  }

  /// The agent that the field `model` of a request names.
  ///
  /// @throws Rejection if there is none
  AgentTypeId agent(ObjectNode body) {
    var model = body.path("model").asString("");
    if (model.isEmpty()) {
      throw new Rejection.Invalid("model must be the id of an agent, one of: " + ids());
    }
    return parts.agentTypes().stream()
        .map(AgentTypeView::id)
        .filter(id -> id.value().equals(model))
        .findFirst()
        .orElseThrow(() -> unknown(model));
  }

  private Rejection unknown(String model) {
    return new Rejection.NotFound(
        "The model '" + model + "' does not exist. Models are the agents of this server: " + ids());
  }

  private String ids() {
    return parts.agentTypes().stream()
        .map(agent -> agent.id().value())
        .collect(Collectors.joining(", "));
  }
}
