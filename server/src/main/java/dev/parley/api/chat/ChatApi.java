package dev.parley.api.chat;

import dev.parley.http.AnswerSource;
import dev.parley.http.ApiDependencies;
import dev.parley.http.ErrorFormat;
import dev.parley.http.Problem;
import dev.parley.http.Route;
import dev.parley.protocol.Json;
import dev.parley.task.Rewinder;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import tools.jackson.databind.node.ObjectNode;

/// The chat API: all its routes.
public final class ChatApi {

  private static final List<Map.Entry<String, String>> WORDS =
      List.of(Map.entry("contextId", "conversationId"), Map.entry("context", "conversation"));

  /// The format of this API's error replies.
  public static final ErrorFormat ERRORS = ErrorFormat.json("/chat", ChatApi::error);

  private final ApiDependencies parts;

  public ChatApi(ApiDependencies parts) {
    this.parts = parts;
  }

  /// The routes.
  public List<Route> routes() {
    var past = new PrecedingEvents(parts.log());
    var agents = new AgentEventMapper(past, new AgentNames(parts.agentTypes()));
    var chat = new ChatEventMapper(agents, past, new AnswerSource(parts.log(), parts.views()));
    var chatTaskResults = new ChatTaskResults(parts);
    var routes = new ArrayList<Route>();
    routes.addAll(new ChatMessageRoutes(parts).routes());
    routes.addAll(
        new ChatStreamRoutes(
                parts, new ChatFormat(chat, parts.streamDependencies().clock(), parts.ids()))
            .routes());
    routes.addAll(new ConversationRoutes(parts).routes());
    routes.addAll(new ChatHistoryRoutes(parts, new Rewinder(parts.log(), parts.views())).routes());
    routes.addAll(new ChatTaskRoutes(parts, chatTaskResults, agents).routes());
    return routes;
  }

  private static ObjectNode error(Problem problem) {
    var json = Json.object().put("success", false);
    return json.put("error", problem.withTerms(WORDS).detail()).put("code", problem.code());
  }
}
