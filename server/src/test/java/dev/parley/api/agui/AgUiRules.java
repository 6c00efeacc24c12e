package dev.parley.api.agui;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/// The rules for a stream of AG-UI events, written from the specification and not from the code.
/// The first broken rule is an error. For one thread.
public final class AgUiRules {

  private enum State {
    NOTHING,
    ACTIVE,
    FINISHED,
    FAILED
  }

  private static final Map<String, List<String>> NEEDED =
      Map.ofEntries(
          Map.entry("RUN_STARTED", List.of("threadId", "runId", "protocolVersion")),
          Map.entry("RUN_FINISHED", List.of("threadId", "runId")),
          Map.entry("RUN_ERROR", List.of("message")),
          Map.entry("STEP_STARTED", List.of("stepName")),
          Map.entry("STEP_FINISHED", List.of("stepName")),
          Map.entry("TEXT_MESSAGE_START", List.of("messageId")),
          Map.entry("TEXT_MESSAGE_CONTENT", List.of("messageId", "delta")),
          Map.entry("TEXT_MESSAGE_END", List.of("messageId")),
          Map.entry("TOOL_CALL_START", List.of("toolCallId", "toolCallName")),
          Map.entry("TOOL_CALL_ARGS", List.of("toolCallId", "delta")),
          Map.entry("TOOL_CALL_END", List.of("toolCallId")),
          Map.entry("TOOL_CALL_RESULT", List.of("messageId", "toolCallId", "content")),
          Map.entry("STATE_SNAPSHOT", List.of()),
          Map.entry("STATE_DELTA", List.of()),
          Map.entry("MESSAGES_SNAPSHOT", List.of()),
          Map.entry("ACTIVITY_SNAPSHOT", List.of("messageId", "activityType")),
          Map.entry("ACTIVITY_DELTA", List.of("messageId", "activityType")),
          Map.entry("REASONING_START", List.of("messageId")),
          Map.entry("REASONING_MESSAGE_START", List.of("messageId", "role")),
          Map.entry("REASONING_MESSAGE_CONTENT", List.of("messageId", "delta")),
          Map.entry("REASONING_MESSAGE_END", List.of("messageId")),
          Map.entry("REASONING_END", List.of("messageId")),
          Map.entry("SUBAGENT_STARTED", List.of("subagentRunId", "name")),
          Map.entry("SUBAGENT_FINISHED", List.of("subagentRunId")),
          Map.entry("SUBAGENT_ERROR", List.of("subagentRunId", "message")),
          Map.entry("CUSTOM", List.of("name")));

  private final Map<String, String> owners = new HashMap<>();
  private final Set<String> open = new LinkedHashSet<>();
  private final Set<String> closedAgents = new HashSet<>();
  private final Set<String> activities = new HashSet<>();
  private final List<String> calls = new ArrayList<>();
  private State state = State.NOTHING;
  private String runId = "";

  /// True if the run began before the stream, and may have calls that the stream does not show.
  private boolean late;

  /// Checks a stream. It may end in the middle of a run unless it is `whole`.
  public static void check(List<? extends JsonNode> events, boolean whole) {
    var rules = new AgUiRules();
    for (var i = 0; i < events.size(); i++) {
      try {
        rules.next(events.get(i));
      } catch (IllegalStateException broken) {
        throw new AssertionError(
            broken.getMessage() + " at " + i + " of\n" + String.join("\n", texts(events)), broken);
      }
    }
    if (whole && rules.state == State.ACTIVE) {
      throw new AssertionError("a run has not ended:\n" + String.join("\n", texts(events)));
    }
  }

  private static List<String> texts(List<? extends JsonNode> events) {
    return events.stream().map(JsonNode::toString).toList();
  }

  private void next(JsonNode event) {
    var type = event.path("type").asString("");
    var needed = NEEDED.get(type);
    require(needed != null, "an unknown event");
    for (var name : needed) {
      require(event.path(name).isString(), name + " must be a string");
    }
    noNulls(event);
    var starts = type.equals("RUN_STARTED");
    switch (state) {
      case NOTHING -> require(starts || type.equals("RUN_ERROR"), "the first event begins no run");
      case ACTIVE -> require(!starts, "a run begins in another");
      case FINISHED -> require(starts || type.equals("RUN_ERROR"), "an event after the end");
      case FAILED -> require(starts, "an event after a failure");
    }
    switch (type) {
      case "RUN_STARTED" -> begin(event);
      case "RUN_FINISHED" -> finish(event);
      case "RUN_ERROR" -> state = State.FAILED;
      case "STEP_STARTED" -> open("step " + owner(event), event, "stepName");
      case "STEP_FINISHED" -> close("step " + owner(event), event, "stepName");
      case "TEXT_MESSAGE_START" -> open("text", event, "messageId");
      case "TEXT_MESSAGE_CONTENT" -> checkOpen("text", event, "messageId");
      case "TEXT_MESSAGE_END" -> close("text", event, "messageId");
      case "TOOL_CALL_START" -> {
        open("call", event, "toolCallId");
        var parent = owners.get("text " + event.path("parentMessageId").asString(""));
        require(
            parent == null || parent.equals(owner(event)),
            "a call in the message of another agent");
        calls.add(event.path("toolCallId").asString());
      }
      case "TOOL_CALL_ARGS" -> checkOpen("call", event, "toolCallId");
      case "TOOL_CALL_END" -> close("call", event, "toolCallId");
      case "TOOL_CALL_RESULT" -> calls.remove(event.path("toolCallId").asString());
      case "REASONING_START" -> open("span", event, "messageId");
      case "REASONING_END" -> close("span", event, "messageId");
      case "REASONING_MESSAGE_START" -> open("thought", event, "messageId");
      case "REASONING_MESSAGE_CONTENT" -> checkOpen("thought", event, "messageId");
      case "REASONING_MESSAGE_END" -> close("thought", event, "messageId");
      case "ACTIVITY_SNAPSHOT" -> {
        require(event.path("content").isObject(), "an activity without content");
        activities.add(event.path("messageId").asString());
      }
      case "ACTIVITY_DELTA" -> {
        require(event.path("patch").isArray(), "a delta without a patch");
        require(activities.contains(event.path("messageId").asString()), "a delta of no activity");
      }
      case "SUBAGENT_STARTED" -> agent(event);
      case "SUBAGENT_FINISHED", "SUBAGENT_ERROR" -> {
        var id = owner(event);
        require(open.remove("agent " + id), "a sub-agent ends that has not begun");
        closedAgents.add(id);
      }
      case "STATE_DELTA" -> require(event.path("delta").isArray(), "a delta without a patch");
      case "STATE_SNAPSHOT" -> require(event.has("snapshot"), "a snapshot of nothing");
      case "MESSAGES_SNAPSHOT" -> snapshot(event);
      case "CUSTOM" -> require(event.has("value"), "a custom event without a value");
      default -> throw new IllegalStateException("no rule for " + type);
    }
  }

  private void begin(JsonNode event) {
    owners.clear();
    open.clear();
    closedAgents.clear();
    calls.clear();
    late = false;
    state = State.ACTIVE;
    runId = event.path("runId").asString();
  }

  private void finish(JsonNode event) {
    require(open.isEmpty(), "still open: " + open);
    require(event.path("runId").asString().equals(runId), "another run ends");
    state = State.FINISHED;
    var outcome = event.path("outcome");
    switch (outcome.path("type").asString("success")) {
      case "success" -> {
        if (outcome.has("pendingToolCallIds")) {
          var pending = new ArrayList<String>();
          outcome.path("pendingToolCallIds").forEach(id -> pending.add(id.asString()));
          require(late || pending.equals(calls), "pending are " + calls + " and not " + pending);
        }
      }
      case "interrupt" -> {
        require(!outcome.path("interrupts").isEmpty(), "an interrupt without interrupts");
        var ids = new HashSet<String>();
        for (var interrupt : outcome.path("interrupts")) {
          require(interrupt.path("reason").isString(), "an interrupt without a reason");
          require(ids.add(interrupt.path("id").asString("")), "two interrupts with one id");
        }
      }
      case "cancelled" -> require(!event.has("result"), "a result of a canceled run");
      default -> throw new IllegalStateException("an unknown outcome");
    }
  }

  private void agent(JsonNode event) {
    var id = owner(event);
    require(!closedAgents.contains(id), "a sub-agent begins twice");
    require(open.add("agent " + id), "a sub-agent begins that has begun");
    if (event.has("parentSubagentRunId")) {
      var parent = event.path("parentSubagentRunId").asString();
      require(
          open.contains("agent " + parent) || closedAgents.contains(parent),
          "a sub-agent of one that has not begun");
    }
  }

  private void snapshot(JsonNode event) {
    require(event.path("messages").isArray(), "a snapshot without messages");
    late = true;
    var ids = new HashSet<String>();
    for (var message : event.path("messages")) {
      require(ids.add(message.path("id").asString("")), "a message twice");
      require(message.path("role").isString(), "a message without a role");
      if (message.path("role").asString().equals("activity")) {
        activities.add(message.path("id").asString());
      }
    }
  }

  private void open(String kind, JsonNode event, String id) {
    var key = kind + " " + event.path(id).asString();
    require(open.add(key), "opened twice: " + key);
    var owner = owners.putIfAbsent(key, owner(event));
    require(owner == null || owner.equals(owner(event)), "reopened by another agent: " + key);
  }

  private void checkOpen(String kind, JsonNode event, String id) {
    var key = kind + " " + event.path(id).asString();
    require(open.contains(key), "not open: " + key);
    require(
        !event.has("subagentRunId") || owner(event).equals(owners.get(key)),
        "continued by another agent: " + key);
  }

  private void close(String kind, JsonNode event, String id) {
    checkOpen(kind, event, id);
    open.remove(kind + " " + event.path(id).asString());
  }

  private static String owner(JsonNode event) {
    return event.path("subagentRunId").asString("");
  }

  private static void noNulls(JsonNode event) {
    event
        .properties()
        .forEach(field -> require(!field.getValue().isNull(), field.getKey() + " is null"));
  }

  private static void require(boolean holds, @Nullable String otherwise) {
    if (!holds) {
      throw new IllegalStateException(otherwise);
    }
  }
}
