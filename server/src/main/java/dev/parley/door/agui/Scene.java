package dev.parley.door.agui;

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
final class Scene {

  /// An open reasoning message; `owner` is the sub-agent, or null.
  private record Thinking(String id, @Nullable String owner) {}

  private final List<ObjectNode> out = new ArrayList<>();
  private final Map<String, ObjectNode> texts = new LinkedHashMap<>();
  private final Map<TaskId, Thinking> thoughts = new LinkedHashMap<>();
  private final Map<TaskId, ObjectNode> agents = new LinkedHashMap<>();
  private final Map<TaskId, String> steps = new LinkedHashMap<>();
  private final Set<String> spoken = new HashSet<>();
  private final Set<String> activities = new HashSet<>();
  private final Set<String> called = new LinkedHashSet<>();
  private final Set<String> announced = new HashSet<>();

  /// Returns and removes the events that were added since the last call.
  List<ObjectNode> take() {
    var all = List.copyOf(out);
    out.clear();
    return all;
  }

  void add(ObjectNode event) {
    out.add(event);
  }

  /// Adds a delta to a block of text.
  void say(BlockId block, @Nullable String owner, String piece) {
    var id = block.value();
    if (!texts.containsKey(id)) {
      var start = AgUiEvent.TEXT_MESSAGE_START.about(owner, id).put("role", "assistant");
      texts.put(id, start);
      spoken.add(id);
      add(start);
    }
    add(AgUiEvent.TEXT_MESSAGE_CONTENT.about(owner, id).put("delta", piece));
  }

  /// Ends a block. If no delta of it was added, adds its whole content first.
  void said(BlockId block, @Nullable String owner, String content) {
    if (!content.isEmpty() && !spoken.contains(block.value())) {
      say(block, owner, content);
    }
    hush(block.value());
  }

  private void hush(String id) {
    var start = texts.remove(id);
    if (start != null) {
      add(AgUiEvent.TEXT_MESSAGE_END.about(ownerOf(start), id));
    }
  }

  private static @Nullable String ownerOf(ObjectNode start) {
    return start.has("subagentRunId") ? start.get("subagentRunId").asString() : null;
  }

  /// Adds a delta to a thought.
  void think(TaskId task, @Nullable String owner, ThoughtId thought, String piece) {
    var id = thought.value();
    var open = thoughts.get(task);
    if (open == null || !open.id().equals(id)) {
      rest(task);
      thoughts.put(task, new Thinking(id, owner));
      reason(new Thinking(id, owner)).forEach(this::add);
    }
    if (!piece.isEmpty()) {
      add(AgUiEvent.REASONING_MESSAGE_CONTENT.about(owner, id).put("delta", piece));
    }
  }

  private static List<ObjectNode> reason(Thinking thinking) {
    return List.of(
        AgUiEvent.REASONING_START.about(thinking.owner(), thinking.id()),
        AgUiEvent.REASONING_MESSAGE_START
            .about(thinking.owner(), thinking.id())
            .put("role", "reasoning"));
  }

  /// Ends the open thought of a task, if any.
  void rest(TaskId task) {
    var open = thoughts.remove(task);
    if (open != null) {
      add(AgUiEvent.REASONING_MESSAGE_END.about(open.owner(), open.id()));
      add(AgUiEvent.REASONING_END.about(open.owner(), open.id()));
    }
  }

  /// Adds a tool call, unless it was added before.
  void call(String id, String name, ObjectNode arguments, Holder holder) {
    if (announced.add(id)) {
      start(id, name, holder);
      add(args(id, arguments, holder.owner()));
      add(AgUiEvent.TOOL_CALL_END.of(holder.owner()).put("toolCallId", id));
    }
  }

  /// The sub-agent of a call, and the message that contains it.
  record Holder(@Nullable String owner, @Nullable String messageId) {}

  /// Repeats a call of an earlier run that still waits for the client.
  void recall(String id, String name, Holder holder) {
    if (!called.contains(id)) {
      start(id, name, holder);
      add(AgUiEvent.TOOL_CALL_END.of(holder.owner()).put("toolCallId", id));
    }
  }

  private void start(String id, String name, Holder holder) {
    var start = AgUiEvent.TOOL_CALL_START.of(holder.owner());
    start.put("toolCallId", id).put("toolCallName", name);
    if (holder.messageId() != null) {
      start.put("parentMessageId", holder.messageId());
    }
    called.add(id);
    add(start);
  }

  private static ObjectNode args(String id, ObjectNode arguments, @Nullable String owner) {
    return AgUiEvent.TOOL_CALL_ARGS
        .of(owner)
        .put("toolCallId", id)
        .put("delta", arguments.toString());
  }

  /// Adds the result of a call.
  void result(String id, @Nullable String owner, String content, boolean success) {
    var result = AgUiEvent.TOOL_CALL_RESULT.about(owner, id + ":result");
    result.put("toolCallId", id).put("content", content).put("role", "tool");
    if (!success) {
      result.putObject("metadata").put("success", false);
    }
    called.remove(id);
    add(result);
  }

  /// True if this run has the call without a result.
  boolean calls(String id) {
    return called.contains(id);
  }

  /// The calls of this run without a result, in order.
  List<String> unanswered() {
    return List.copyOf(called);
  }

  /// True if the activity is new in this run.
  boolean begins(String activity) {
    return activities.add(activity);
  }

  void step(TaskId task, String name) {
    steps.put(task, name);
    add(AgUiEvent.STEP_STARTED.json().put("stepName", name));
  }

  /// Ends the step of a task. Returns false if the task is not a step.
  boolean stepped(TaskId task) {
    var name = steps.remove(task);
    if (name != null) {
      add(AgUiEvent.STEP_FINISHED.json().put("stepName", name));
    }
    return name != null;
  }

  void agent(TaskId task, ObjectNode started) {
    agents.put(task, started);
    add(started);
  }

  boolean isAgent(@Nullable TaskId task) {
    return task != null && agents.containsKey(task);
  }

  /// Ends a sub-agent with this event, if it is open.
  void agentEnded(TaskId task, ObjectNode end) {
    if (agents.remove(task) != null) {
      add(end);
    }
  }

  /// Closes all open items at a pause. Sub-agents are suspended, each with its own interrupts.
  void suspend(Function<TaskId, List<String>> interrupts) {
    closeWords();
    for (var task : List.copyOf(agents.keySet()).reversed()) {
      var end = AgUiEvent.SUBAGENT_FINISHED.of(task.value());
      var outcome = end.putObject("outcome").put("type", "suspended");
      var ids = interrupts.apply(task);
      if (!ids.isEmpty()) {
        ids.forEach(outcome.putArray("interruptIds")::add);
      }
      add(end);
    }
    steps.values().forEach(name -> add(AgUiEvent.STEP_FINISHED.json().put("stepName", name)));
    called.clear();
  }

  /// Reopens steps and sub-agents in another run.
  void goOn() {
    activities.clear();
    called.clear();
    steps.values().forEach(name -> add(AgUiEvent.STEP_STARTED.json().put("stepName", name)));
    agents.values().forEach(started -> add(started.deepCopy()));
  }

  /// Closes all open items at the end.
  void close() {
    closeWords();
    for (var task : List.copyOf(agents.keySet()).reversed()) {
      agentEnded(
          task,
          AgUiEvent.SUBAGENT_ERROR
              .of(task.value())
              .put("message", "the run ended before the sub-agent")
              .put("code", "canceled"));
    }
    List.copyOf(steps.keySet()).forEach(this::stepped);
  }

  private void closeWords() {
    List.copyOf(thoughts.keySet()).forEach(this::rest);
    List.copyOf(texts.keySet()).forEach(this::hush);
  }

  /// The opening events of all open items, for a reader that joins during the run.
  List<ObjectNode> openers() {
    var openers = new ArrayList<ObjectNode>();
    steps
        .values()
        .forEach(name -> openers.add(AgUiEvent.STEP_STARTED.json().put("stepName", name)));
    agents.values().forEach(started -> openers.add(started.deepCopy()));
    texts.values().forEach(start -> openers.add(start.deepCopy()));
    thoughts.values().forEach(thinking -> openers.addAll(reason(thinking)));
    return openers;
  }

  /// Adds a complete text message.
  void message(String id, String content) {
    add(AgUiEvent.TEXT_MESSAGE_START.about(null, id).put("role", "assistant"));
    add(AgUiEvent.TEXT_MESSAGE_CONTENT.about(null, id).put("delta", content));
    add(AgUiEvent.TEXT_MESSAGE_END.about(null, id));
  }

  /// Adds an activity: a snapshot the first time in a run, then a delta.
  void activity(String id, @Nullable String owner, String type, ObjectNode content) {
    var json =
        (begins(id) ? AgUiEvent.ACTIVITY_SNAPSHOT : AgUiEvent.ACTIVITY_DELTA).about(owner, id);
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
