package dev.parley.mcp;

import dev.parley.protocol.Json;
import dev.parley.tool.Tool.Effect;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// A tool as listed by its server. The effect is the claim of the server.
record ListedTool(String name, String description, ObjectNode schema, Effect effect) {

  private static final int NAME_MAX = 200;
  private static final int DESCRIPTION_MAX = 4_000;
  private static final int SCHEMA_BYTES_MAX = 64 * 1024;
  private static final int TOOLS_MAX = 500;
  private static final int PAGES_MAX = 50;

  /// Lists all tools of a server, up to a limit.
  static List<ListedTool> all(McpSession server, Duration patience)
      throws McpFailure, InterruptedException {
    var listed = new ArrayList<ListedTool>();
    var params = Json.object();
    for (var page = 0; page < PAGES_MAX && listed.size() < TOOLS_MAX; page++) {
      var answer = server.request("tools/list", params, patience);
      for (var tool : answer.path("tools")) {
        of(tool).ifPresent(listed::add);
      }
      var next = answer.path("nextCursor").asString("");
      if (next.isEmpty()) {
        break;
      }
      params = Json.object().put("cursor", next);
    }
    return listed.stream().limit(TOOLS_MAX).toList();
  }

  /// Parses a tool. Empty if the tool cannot be used: it has no name, is too large, or runs only as
  /// a task of the server.
  static Optional<ListedTool> of(JsonNode tool) {
    var name = tool.path("name").asString("");
    var schema = tool.path("inputSchema") instanceof ObjectNode object ? object : Json.object();
    if (!schema.has("type")) {
      schema.put("type", "object");
    }
    var tasksOnly = tool.path("execution").path("taskSupport").asString("").equals("required");
    if (name.isEmpty()
        || name.length() > NAME_MAX
        || tasksOnly
        || Json.bytes(schema).length > SCHEMA_BYTES_MAX) {
      return Optional.empty();
    }
    var title = tool.path("title").asString(tool.path("annotations").path("title").asString(name));
    var description = tool.path("description").asString("").strip();
    return Optional.of(
        new ListedTool(
            name,
            BoundedText.cut(description.isEmpty() ? title : description, DESCRIPTION_MAX),
            schema,
            effect(tool.path("annotations"))));
  }

  private static Effect effect(JsonNode annotations) {
    if (annotations.path("readOnlyHint").asBoolean(false)) {
      return Effect.PURE;
    }
    return annotations.path("idempotentHint").asBoolean(false)
        ? Effect.IDEMPOTENT
        : Effect.AT_MOST_ONCE;
  }
}
