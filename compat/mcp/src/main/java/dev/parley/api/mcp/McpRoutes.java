package dev.parley.api.mcp;

import dev.parley.api.ApiDependencies;
import dev.parley.api.mcp.AgentCalls.CallRequest;
import dev.parley.http.Parameter;
import dev.parley.http.Problem;
import dev.parley.http.Reply;
import dev.parley.http.Request;
import dev.parley.http.ResponseDescription;
import dev.parley.http.Route;
import dev.parley.identity.Action;
import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Json;
import dev.parley.protocol.Rejection;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// `/mcp`: streamable HTTP.
///
/// The server keeps no sessions: the id of a session says what its client can do, the id of a
/// request to the user names the question, and the id of a frame names the call.
final class McpRoutes {

  static final String PATH = "/mcp";
  static final String SESSION = "Mcp-Session-Id";
  private static final String VERSION = "MCP-Protocol-Version";
  private static final String LAST = "Last-Event-ID";

  private final ApiDependencies parts;
  private final McpMethods methods;
  private final AgentCalls calls;

  McpRoutes(ApiDependencies parts, McpMethods methods, AgentCalls calls) {
    this.parts = parts;
    this.methods = methods;
    this.calls = calls;
  }

  /// A message of JSON-RPC, in the OpenAPI description.
  record McpBody(
      String jsonrpc,
      @Nullable JsonNode id,
      @Nullable String method,
      @Nullable ObjectNode params) {}

  List<Route> routes() {
    return List.of(
        Route.withBody(
                Route.Method.POST,
                PATH,
                new Route.RouteDescription(
                    "Takes a message of MCP; calls of tools are answered by a stream",
                    List.of(
                        Parameter.header(SESSION, "the session"),
                        Parameter.header(VERSION, "the version of the protocol")),
                    McpBody.class,
                    ResponseDescription.other("application/json")),
                this::post)
            // A method decides itself what else it needs.
            .doing(Action.READ),
        Route.get(
            PATH,
            "Continues the stream of a call",
            ResponseDescription.stream(),
            List.of(
                Parameter.header(LAST, "the id of the last frame that the client has"),
                Parameter.header(SESSION, "the session")),
            this::resume),
        Route.withoutBody(
                Route.Method.DELETE,
                PATH,
                "Ends a session",
                ResponseDescription.empty(),
                _ -> new Reply.Empty(204))
            .doing(Action.READ));
  }

  private Reply post(Request request) {
    var message = request.body(ObjectNode.class);
    var version = request.header(VERSION).orElse("");
    if (!version.isEmpty() && !McpMethods.VERSIONS.contains(version)) {
      throw new Rejection.Invalid(
          "unsupported-version",
          "the server supports the versions " + String.join(", ", McpMethods.VERSIONS));
    }
    var session = McpSessionId.of(request.header(SESSION).orElse(""));
    var id = message.path("id");
    var method = message.path("method").asString("");
    if (method.isEmpty()) {
      return response(request, message, id);
    }
    if (id.isMissingNode()) {
      notification(request, session, method, message.path("params"));
      return new Reply.Empty(202);
    }
    if (!id.isString() && !id.isIntegralNumber()) {
      return json(
          McpReply.error(id, McpReply.INVALID_REQUEST, "an id must be a string or an integer"));
    }
    return request(request, session, message, method);
  }

  private Reply response(Request request, ObjectNode message, JsonNode id) {
    if (!message.has("result") && !message.has("error")) {
      return new Reply.Json(
          400, McpReply.error(id, McpReply.INVALID_REQUEST, "the message has no method"));
    }
    calls.answer(request, id.asString(""), message);
    return new Reply.Empty(202);
  }

  private void notification(Request request, McpSessionId session, String method, JsonNode params) {
    // The others are information that the server does not need.
    if (method.equals("notifications/cancelled")) {
      calls.cancel(request, session, params.path("requestId"));
    }
  }

  private Reply request(Request request, McpSessionId session, ObjectNode message, String method) {
    var id = message.path("id");
    var params = message.path("params");
    try {
      if (method.equals("tools/call")) {
        return call(request, session, id, params);
      }
      var answer = methods.answer(request, id, method, params);
      return method.equals("initialize")
          ? new Reply.Json(200, answer, Map.of(SESSION, newSession(params).value()))
          : json(answer);
    } catch (Rejection rejected) {
      return json(McpReply.error(id, rejected));
    }
  }

  private McpSessionId newSession(JsonNode params) {
    return McpSessionId.create(params.path("capabilities").has("elicitation"), parts.ids().get());
  }

  private Reply call(Request request, McpSessionId session, JsonNode id, JsonNode params) {
    var name = params.path("name").asString("");
    var agent =
        parts.agentTypes().stream()
            .map(type -> type.id())
            .filter(type -> type.value().equals(name))
            .findFirst()
            .orElseThrow(() -> new Rejection.Invalid("no such tool: " + name));
    var arguments = params.path("arguments");
    var context = arguments.path(McpMethods.CONTEXT).asString("");
    var message = arguments.path(McpMethods.MESSAGE).asString("");
    if (message.isBlank() && context.isEmpty()) {
      throw new Rejection.Invalid("arguments.message must be a text");
    }
    try {
      return calls.call(
          new CallRequest(
              request,
              session,
              id,
              params.path("_meta").path("progressToken"),
              new AgentTypeId(agent.value()),
              message,
              context.isEmpty() ? null : new ContextId(context)));
    } catch (Rejection.Invalid
        | Rejection.NotFound
        | Rejection.Gone
        | Rejection.Conflict
        | Rejection.Forbidden rejected) {
      // A result and not an error of the protocol, so that the calling model learns why.
      var result = Json.object().put("isError", true);
      result
          .putArray("content")
          .addObject()
          .put("type", "text")
          .put("text", String.valueOf(rejected.getMessage()));
      return json(McpReply.result(id, result));
    }
  }

  private static Reply json(ObjectNode answer) {
    return new Reply.Json(200, answer);
  }

  private Reply resume(Request request) {
    var last = request.header(LAST);
    if (last.isEmpty()) {
      return new Reply.Rejected(
          Problem.of(
              405,
              "method-not-allowed",
              "the server sends messages only in the streams of calls; GET continues one of them"
                  + " with Last-Event-ID"));
    }
    return calls.resumeStream(request, last.get());
  }
}
