package dev.parley.api.agui;

import dev.parley.protocol.Json;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// The types of AG-UI events, which create the JSON of an event.
enum AgUiEvent {
  RUN_STARTED,
  RUN_FINISHED,
  RUN_ERROR,
  STEP_STARTED,
  STEP_FINISHED,
  TEXT_MESSAGE_START,
  TEXT_MESSAGE_CONTENT,
  TEXT_MESSAGE_END,
  TOOL_CALL_START,
  TOOL_CALL_ARGS,
  TOOL_CALL_END,
  TOOL_CALL_RESULT,
  STATE_SNAPSHOT,
  STATE_DELTA,
  MESSAGES_SNAPSHOT,
  ACTIVITY_SNAPSHOT,
  ACTIVITY_DELTA,
  REASONING_START,
  REASONING_MESSAGE_START,
  REASONING_MESSAGE_CONTENT,
  REASONING_MESSAGE_END,
  REASONING_END,
  SUBAGENT_STARTED,
  SUBAGENT_FINISHED,
  SUBAGENT_ERROR,
  CUSTOM;

  private static final String CUSTOM_PREFIX = "parley.";

  /// An event of the run.
  ObjectNode json() {
    return Json.object().put("type", name());
  }

  /// An event of the sub-agent `owner`, or of the agent itself if `owner` is null.
  ObjectNode ofOwner(@Nullable String owner) {
    var json = json();
    Json.putPresent(json, "subagentRunId", owner);
    return json;
  }

  /// An event about a message.
  ObjectNode forMessage(@Nullable String owner, String messageId) {
    return ofOwner(owner).put("messageId", messageId);
  }

  boolean is(ObjectNode event) {
    return event.path("type").asString("").equals(name());
  }

  /// A custom event of Parley, where the protocol has no event.
  static ObjectNode custom(@Nullable String owner, String name, JsonNode value) {
    var json = CUSTOM.ofOwner(owner).put("name", CUSTOM_PREFIX + name.toLowerCase(Locale.ROOT));
    json.set("value", value);
    return json;
  }

  /// A JSON Pointer to a key of an object.
  static String pointer(String key) {
    return "/" + key.replace("~", "~0").replace("/", "~1");
  }
}
