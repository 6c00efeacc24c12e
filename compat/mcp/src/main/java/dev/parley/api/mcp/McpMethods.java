package dev.parley.api.mcp;

import dev.parley.api.ApiDependencies;
import dev.parley.http.Request;
import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.AgentTypeView;
import dev.parley.protocol.Json;
import dev.parley.protocol.Rejection;
import dev.parley.server.ParleyVersion;
import java.util.List;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// The methods that have a result at once: all but the call of a tool.
final class McpMethods {

  /// The versions of the protocol, the latest first.
  static final List<String> VERSIONS = List.of("2025-11-25", "2025-06-18", "2025-03-26");

  /// In the arguments of a tool: the message for the agent.
  static final String MESSAGE = "message";

  /// In the arguments of a tool: the context to continue.
  static final String CONTEXT = "context";

  private final ApiDependencies parts;
  private final McpResources resources;

  McpMethods(ApiDependencies parts, McpResources resources) {
    this.parts = parts;
    this.resources = resources;
  }

  /// Returns the answer to a request.
  ObjectNode answer(Request request, JsonNode id, String method, JsonNode params) {
    return switch (method) {
      case "initialize" -> McpReply.result(id, initialize(params));
      case "ping" -> McpReply.result(id, Json.object());
      case "tools/list" -> McpReply.result(id, tools(request));
      case "resources/list" ->
          McpReply.result(id, resources.list(request, params.path("cursor").asString(null)));
      case "resources/templates/list" -> McpReply.result(id, McpResources.templates());
      case "resources/read" ->
          McpReply.result(id, resources.read(request, params.path("uri").asString("")));
      default ->
          McpReply.error(id, McpReply.METHOD_NOT_FOUND, "this server has no method " + method);
    };
  }

  private static ObjectNode initialize(JsonNode params) {
    var wanted = params.path("protocolVersion").asString("");
    var json =
        Json.object()
            .put("protocolVersion", VERSIONS.contains(wanted) ? wanted : VERSIONS.getFirst());
    var capabilities = json.putObject("capabilities");
    capabilities.putObject("tools");
    capabilities.putObject("resources");
    json.putObject("serverInfo")
        .put("name", "parley")
        .put("title", "Parley")
        .put("version", ParleyVersion.text());
    return json.put(
        "instructions",
        "Each tool is an agent. Pass a message; the agent works on it and answers. The result has a"
            + " context: pass it to continue the same conversation.");
  }

  private ObjectNode tools(Request request) {
    var json = Json.object();
    var tools = json.putArray("tools");
    for (var agent : parts.agentTypes()) {
      if (permitted(request, agent.id())) {
        tools.add(tool(agent));
      }
    }
    return json;
  }

  private boolean permitted(Request request, AgentTypeId agent) {
    try {
      parts.access().checkAgent(request.caller(), agent);
      return true;
    } catch (Rejection.Forbidden other) {
      return false;
    }
  }

  private static ObjectNode tool(AgentTypeView agent) {
    var about = agent.description();
    var json = Json.object().put("name", agent.id().value()).put("title", agent.name());
    json.put("description", about == null ? "Sends a message to the agent " + agent.name() : about);
    var input = json.putObject("inputSchema").put("type", "object");
    var fields = input.putObject("properties");
    fields
        .putObject(MESSAGE)
        .put("type", "string")
        .put(
            "description",
            "What the agent should do. With a context, it may be left out to wait"
                + " for the task that runs there.");
    fields
        .putObject(CONTEXT)
        .put("type", "string")
        .put("description", "The context to continue, from an earlier result. Default: a new one.");
    var output = json.putObject("outputSchema").put("type", "object");
    var results = output.putObject("properties");
    for (var name : List.of("context", "task", "status", "answer")) {
      results.putObject(name).put("type", "string");
    }
    output.putArray("required").add("context").add("task").add("status").add("answer");
    return json;
  }
}
