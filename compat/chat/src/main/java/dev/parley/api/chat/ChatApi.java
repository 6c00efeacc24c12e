package dev.parley.api.chat;

import dev.parley.api.ApiDependencies;
import dev.parley.api.ApiModule;
import dev.parley.api.chat.AgentEventMapper.AgentNames;
import dev.parley.api.chat.AgentEventMapper.PrecedingEvents;
import dev.parley.http.ErrorFormat;
import dev.parley.http.Problem;
import dev.parley.http.Route;
import dev.parley.projection.AnswerSource;
import dev.parley.protocol.Json;
import dev.parley.task.Rewinder;
import dev.parley.task.TaskType;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import tools.jackson.databind.node.ObjectNode;

/// The chat API: all its routes.
public final class ChatApi implements ApiModule {

  private static final List<Map.Entry<String, String>> WORDS =
      List.of(Map.entry("contextId", "conversationId"), Map.entry("context", "conversation"));

  @Override
  public List<TaskType> taskTypes(String agentId) {
    return agentId.equals("agent-code") ? ChatTaskTypes.ANGULAR : List.of();
  }

  @Override
  public ApiParts create(ApiDependencies parts) {
    var past = new PrecedingEvents(parts.log());
    var agents = new AgentEventMapper(past, new AgentNames(parts.agentTypes()));
    var chat = new ChatEventMapper(agents, past, new AnswerSource(parts.log(), parts.views()));
    var results = new ChatTaskResults(parts);
    var routes = new ArrayList<Route>();
    routes.addAll(new ChatMessageRoutes(parts).routes());
    routes.addAll(
        new ChatStreamRoutes(parts, new ChatFormat(chat, parts.time(), parts.ids())).routes());
    routes.addAll(new ConversationRoutes(parts).routes());
    routes.addAll(new ChatHistoryRoutes(parts, new Rewinder(parts.log(), parts.views())).routes());
    routes.addAll(new ChatTaskRoutes(parts, results, agents).routes());
    return new ApiParts(routes, List.of(ErrorFormat.json("/chat", ChatApi::error)));
  }

  private static ObjectNode error(Problem problem) {
    var json = Json.object().put("success", false);
    return json.put("error", problem.withTerms(WORDS).detail()).put("code", problem.code());
  }
}
