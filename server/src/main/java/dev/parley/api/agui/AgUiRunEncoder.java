package dev.parley.api.agui;

import dev.parley.protocol.BlockId;
import dev.parley.protocol.Json;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.ThoughtId;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/// Encodes the events of a run, and tracks its open items: messages, reasoning, steps and
/// sub-agents. Opens an item before its content, and closes all items before the run ends.
/// Sub-agents and steps that continue are opened again in the next run. For one thread.
final class AgUiRunEncoder {

  /// An open reasoning message; `owner` is the sub-agent, or null.
  private record OpenReasoning(String id, @Nullable String owner) {}

  private final List<ObjectNode> pendingEvents = new ArrayList<>();
  private final Map<String, ObjectNode> openTexts = new LinkedHashMap<>();
  private final Map<TaskId, OpenReasoning> openReasoning = new LinkedHashMap<>();
  private final Map<TaskId, ObjectNode> subagents = new LinkedHashMap<>();
  private final Map<TaskId, String> steps = new LinkedHashMap<>();
  private final Set<String> streamedBlocks = new HashSet<>();
  private final Set<String> activities = new HashSet<>();
  private final Set<String> openCalls = new LinkedHashSet<>();
  private final Set<String> startedCalls = new HashSet<>();

  /// Returns and removes the events that were added since the last call.
  List<ObjectNode> drain() {
    var all = List.copyOf(pendingEvents);
    pendingEvents.clear();
    return all;
  }

  void add(ObjectNode event) {
    pendingEvents.add(event);
  }

  /// Adds a delta to a block of text.
  void appendText(BlockId block, @Nullable String owner, String piece) {
    var id = block.value();
    if (!openTexts.containsKey(id)) {
      var start = AgUiEvent.TEXT_MESSAGE_START.forMessage(owner, id).put("role", "assistant");
      openTexts.put(id, start);
      streamedBlocks.add(id);
      add(start);
    }
    add(AgUiEvent.TEXT_MESSAGE_CONTENT.forMessage(owner, id).put("delta", piece));
  }

  /// Ends a block. If no delta of it was added, adds its whole content first.
  void endText(BlockId block, @Nullable String owner, String content) {
    if (!content.isEmpty() && !streamedBlocks.contains(block.value())) {
      appendText(block, owner, content);
    }
    closeText(block.value());
  }

  private void closeText(String id) {
    var start = openTexts.remove(id);
    if (start != null) {
      add(AgUiEvent.TEXT_MESSAGE_END.forMessage(ownerOf(start), id));
    }
  }

  private static @Nullable String ownerOf(ObjectNode start) {
    return start.has("subagentRunId") ? start.get("subagentRunId").asString() : null;
  }

  /// Adds a delta to a thought.
  void appendReasoning(TaskId task, @Nullable String owner, ThoughtId thought, String piece) {
    var id = thought.value();
    var open = openReasoning.get(task);
    if (open == null || !open.id().equals(id)) {
      endReasoning(task);
      openReasoning.put(task, new OpenReasoning(id, owner));
      reasoningStart(new OpenReasoning(id, owner)).forEach(this::add);
    }
    if (!piece.isEmpty()) {
      add(AgUiEvent.REASONING_MESSAGE_CONTENT.forMessage(owner, id).put("delta", piece));
    }
  }

  private static List<ObjectNode> reasoningStart(OpenReasoning thinking) {
    return List.of(
        AgUiEvent.REASONING_START.forMessage(thinking.owner(), thinking.id()),
        AgUiEvent.REASONING_MESSAGE_START
            .forMessage(thinking.owner(), thinking.id())
            .put("role", "reasoning"));
  }

  /// Ends the open thought of a task, if any.
  void endReasoning(TaskId task) {
    var open = openReasoning.remove(task);
    if (open != null) {
      add(AgUiEvent.REASONING_MESSAGE_END.forMessage(open.owner(), open.id()));
      add(AgUiEvent.REASONING_END.forMessage(open.owner(), open.id()));
    }
  }

  /// Adds a tool call, unless it was added before.
  void call(String id, String name, ObjectNode arguments, CallParent parent) {
    if (startedCalls.add(id)) {
      start(id, name, parent);
      add(args(id, arguments, parent.owner()));
      add(AgUiEvent.TOOL_CALL_END.ofOwner(parent.owner()).put("toolCallId", id));
    }
  }

  /// The sub-agent of a call, and the message that contains it.
  record CallParent(@Nullable String owner, @Nullable String messageId) {}

  /// Repeats a call of an earlier run that still waits for the client.
  void repeatCall(String id, String name, CallParent parent) {
    if (!openCalls.contains(id)) {
      start(id, name, parent);
      add(AgUiEvent.TOOL_CALL_END.ofOwner(parent.owner()).put("toolCallId", id));
    }
  }

  private void start(String id, String name, CallParent parent) {
    var start = AgUiEvent.TOOL_CALL_START.ofOwner(parent.owner());
    start.put("toolCallId", id).put("toolCallName", name);
    Json.putPresent(start, "parentMessageId", parent.messageId());
    openCalls.add(id);
    add(start);
  }

  private static ObjectNode args(String id, ObjectNode arguments, @Nullable String owner) {
    return AgUiEvent.TOOL_CALL_ARGS
        .ofOwner(owner)
        .put("toolCallId", id)
        .put("delta", arguments.toString());
  }

  /// Adds the result of a call.
  void result(String id, @Nullable String owner, String content, boolean success) {
    var result = AgUiEvent.TOOL_CALL_RESULT.forMessage(owner, id + ":result");
    result.put("toolCallId", id).put("content", content).put("role", "tool");
    if (!success) {
      result.putObject("metadata").put("success", false);
    }
    openCalls.remove(id);
    add(result);
  }

  /// The calls of this run without a result, in order.
  List<String> unanswered() {
    return List.copyOf(openCalls);
  }

  /// True if the activity is new in this run.
  boolean isFirstActivity(String activity) {
    return activities.add(activity);
  }

  void startStep(TaskId task, String name) {
    steps.put(task, name);
    add(AgUiEvent.STEP_STARTED.json().put("stepName", name));
  }

  /// Ends the step of a task. Returns false if the task is not a step.
  boolean endStep(TaskId task) {
    var name = steps.remove(task);
    if (name != null) {
      add(AgUiEvent.STEP_FINISHED.json().put("stepName", name));
    }
    return name != null;
  }

  void startSubagent(TaskId task, ObjectNode started) {
    subagents.put(task, started);
    add(started);
  }

  boolean isSubagent(@Nullable TaskId task) {
    return task != null && subagents.containsKey(task);
  }

  /// Ends a sub-agent with this event, if it is open.
  void endSubagent(TaskId task, ObjectNode end) {
    if (subagents.remove(task) != null) {
      add(end);
    }
  }

  /// Closes all open items at a pause. Sub-agents are suspended, each with its own interrupts.
  void suspend(Function<TaskId, List<String>> interrupts) {
    closeMessages();
    for (var task : List.copyOf(subagents.keySet()).reversed()) {
      var end = AgUiEvent.SUBAGENT_FINISHED.ofOwner(task.value());
      var outcome = end.putObject("outcome").put("type", "suspended");
      var ids = interrupts.apply(task);
      if (!ids.isEmpty()) {
        ids.forEach(outcome.putArray("interruptIds")::add);
      }
      add(end);
    }
    steps.values().forEach(name -> add(AgUiEvent.STEP_FINISHED.json().put("stepName", name)));
    openCalls.clear();
  }

  /// Reopens steps and sub-agents in another run.
  void resume() {
    activities.clear();
    openCalls.clear();
    steps.values().forEach(name -> add(AgUiEvent.STEP_STARTED.json().put("stepName", name)));
    subagents.values().forEach(started -> add(started.deepCopy()));
  }

  /// Closes all open items at the end.
  void close() {
    closeMessages();
    for (var task : List.copyOf(subagents.keySet()).reversed()) {
      endSubagent(
          task,
          AgUiEvent.SUBAGENT_ERROR
              .ofOwner(task.value())
              .put("message", "the run ended before the sub-agent")
              .put("code", "canceled"));
    }
    List.copyOf(steps.keySet()).forEach(this::endStep);
  }

  private void closeMessages() {
    List.copyOf(openReasoning.keySet()).forEach(this::endReasoning);
    List.copyOf(openTexts.keySet()).forEach(this::closeText);
  }

  /// The opening events of all open items, for a reader that joins during the run.
  List<ObjectNode> openingEvents() {
    var openers = new ArrayList<ObjectNode>();
    steps
        .values()
        .forEach(name -> openers.add(AgUiEvent.STEP_STARTED.json().put("stepName", name)));
    subagents.values().forEach(started -> openers.add(started.deepCopy()));
    openTexts.values().forEach(start -> openers.add(start.deepCopy()));
    openReasoning.values().forEach(thinking -> openers.addAll(reasoningStart(thinking)));
    return openers;
  }

  /// Adds a complete text message.
  void message(String id, String content) {
    add(AgUiEvent.TEXT_MESSAGE_START.forMessage(null, id).put("role", "assistant"));
    add(AgUiEvent.TEXT_MESSAGE_CONTENT.forMessage(null, id).put("delta", content));
    add(AgUiEvent.TEXT_MESSAGE_END.forMessage(null, id));
  }

  /// Adds an activity: a snapshot the first time in a run, then a delta.
  void activity(String id, @Nullable String owner, String type, ObjectNode content) {
    var json =
        (isFirstActivity(id) ? AgUiEvent.ACTIVITY_SNAPSHOT : AgUiEvent.ACTIVITY_DELTA)
            .forMessage(owner, id);
    json.put("activityType", type);
    if (AgUiEvent.ACTIVITY_SNAPSHOT.is(json)) {
      json.set("content", content);
    } else {
      json.set("patch", patch(content));
    }
    add(json);
  }

  /// A JSON Patch that sets every key, existing or not.
  static ArrayNode patch(ObjectNode values) {
    var patch = Json.mapper().createArrayNode();
    values
        .properties()
        .forEach(
            key -> {
              var path = AgUiEvent.pointer(key.getKey());
              patch.addObject().put("op", "add").put("path", path).set("value", key.getValue());
              if (key.getValue().isNull()) {
                patch.addObject().put("op", "remove").put("path", path);
              }
            });
    return patch;
  }
}
