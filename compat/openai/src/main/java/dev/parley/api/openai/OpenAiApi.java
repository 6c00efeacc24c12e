package dev.parley.api.openai;

import dev.parley.api.ApiDependencies;
import dev.parley.api.ApiModule;
import dev.parley.http.ErrorFormat;
import dev.parley.http.Problem;
import dev.parley.http.Route;
import dev.parley.protocol.Json;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import tools.jackson.databind.node.ObjectNode;

/// The API that is compatible with OpenAI: all its routes.
public final class OpenAiApi implements ApiModule {

  private static final List<Map.Entry<String, String>> WORDS =
      List.of(Map.entry("contextId", "conversation"), Map.entry("context", "conversation"));

  @Override
  public ApiParts create(ApiDependencies parts) {
    var reader = new ResponseReader(parts);
    var starter = new ResponseStarter(parts, reader);
    var agents = new AgentModels(parts);
    var routes = new ArrayList<Route>();
    routes.addAll(agents.routes());
    routes.addAll(new ChatCompletionRoutes(parts, reader, starter, agents).routes());
    routes.addAll(new ResponseRoutes(parts, reader, starter, agents).routes());
    routes.addAll(new OpenAiConversationRoutes(parts).routes());
    return new ApiParts(routes, List.of(ErrorFormat.json(AgentModels.PREFIX, OpenAiApi::error)));
  }

  private static ObjectNode error(Problem problem) {
    var json = Json.object();
    json.putObject("error")
        .put("message", problem.withTerms(WORDS).detail())
        .put("type", type(problem.status()))
        .putNull("param")
        .put(
            "code", problem.status() == 401 ? "invalid_api_key" : problem.code().replace('-', '_'));
    return json;
  }

  private static String type(int status) {
    return switch (status) {
      case 401 -> "authentication_error";
      case 403 -> "permission_error";
      case 409 -> "conflict_error";
      case 429 -> "rate_limit_error";
      default -> status < 500 ? "invalid_request_error" : "server_error";
    };
  }
}
