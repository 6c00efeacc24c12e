package dev.parley.door.chat;

import dev.parley.door.DoorParts;
import dev.parley.door.ErrorForm;
import dev.parley.door.Problem;
import dev.parley.door.Route;
import dev.parley.door.Voice;
import dev.parley.protocol.Json;
import dev.parley.task.Rewinder;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import tools.jackson.databind.node.ObjectNode;

/// The chat API: all its routes.
public final class ChatDoor {

  private static final List<Map.Entry<String, String>> WORDS =
      List.of(Map.entry("contextId", "conversationId"), Map.entry("context", "conversation"));

  /// The format of this API's error replies.
  public static final ErrorForm ERRORS = ErrorForm.json("/chat", ChatDoor::error);

  private final DoorParts parts;

  public ChatDoor(DoorParts parts) {
    this.parts = parts;
  }

  /// The routes.
  public List<Route> routes() {
    var past = new LookBack(parts.log());
    var agents = new AgentEvents(past, new AgentNames(parts.agentTypes()));
    var chat = new ChatEvents(agents, past, new Voice(parts.log(), parts.views()));
    var results = new Results(parts);
    var routes = new ArrayList<Route>();
    routes.addAll(new SendRoutes(parts).routes());
    routes.addAll(
        new StreamRoutes(parts, new ChatFormat(chat, parts.tails().clock(), parts.ids())).routes());
    routes.addAll(new ConversationRoutes(parts).routes());
    routes.addAll(new HistoryRoutes(parts, new Rewinder(parts.log(), parts.views())).routes());
    routes.addAll(new TaskRoutes(parts, results, agents).routes());
    return routes;
  }

  private static ObjectNode error(Problem problem) {
    var json = Json.object().put("success", false);
    return json.put("error", problem.inWords(WORDS).detail()).put("code", problem.code());
  }
}
