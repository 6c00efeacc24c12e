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

/// What is open in a run: messages, reasoning, steps and sub-agents. Opens what is not open before it goes on,
/// and closes all before the run ends; what sub-agents and steps go on with is opened anew in the next run.
/// For one thread.
final class Scene {

  /// Somebody whose reasoning is open.
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

  /// What there is to say since this was last asked.
  List<ObjectNode> take() {
    var all = List.copyOf(out);
    out.clear();
    return all;
  }

  void add(ObjectNode event) {
    out.add(event);
  }

  /// A piece of a block of text.
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

  /// The end of a block, all of which is said if no piece of it was.
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

  /// A piece of a thought.
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

  /// Ends the thought that a task has open, if it has one.
  void rest(TaskId task) {
    var open = thoughts.remove(task);
    if (open != null) {
      add(AgUiEvent.REASONING_MESSAGE_END.about(open.owner(), open.id()));
      add(AgUiEvent.REASONING_END.about(open.owner(), open.id()));
    }
  }

  /// A tool call, unless it is known already.
  void call(String id, String name, ObjectNode arguments, Holder holder) {
    if (announced.add(id)) {
      start(id, name, holder);
      add(args(id, arguments, holder.owner()));
      add(AgUiEvent.TOOL_CALL_END.of(holder.owner()).put("toolCallId", id));
    }
  }

  /// Whose call it is, and the message that has it.
  record Holder(@Nullable String owner, @Nullable String messageId) {}

  /// A call of an earlier run that still waits for the application: it is of this one, too.
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

  /// What came of a call.
  void result(String id, @Nullable String owner, String content, boolean success) {
    var result = AgUiEvent.TOOL_CALL_RESULT.about(owner, id + ":result");
    result.put("toolCallId", id).put("content", content).put("role", "tool");
    if (!success) {
      result.putObject("metadata").put("success", false);
    }
    called.remove(id);
    add(result);
  }

  /// True if this run has the call, and not its result.
  boolean calls(String id) {
    return called.contains(id);
  }

  /// The calls of this run that have no result, in their order.
  List<String> unanswered() {
    return List.copyOf(called);
  }

  /// True if an activity was not told of in this run before.
  boolean begins(String activity) {
    return activities.add(activity);
  }

  void step(TaskId task, String name) {
    steps.put(task, name);
    add(AgUiEvent.STEP_STARTED.json().put("stepName", name));
  }

  /// True if the task was a step, which has ended.
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

  /// Ends a sub-agent with this event, if it is one.
  void agentEnded(TaskId task, ObjectNode end) {
    if (agents.remove(task) != null) {
      add(end);
    }
  }

  /// Closes all that is open, for now: sub-agents are suspended, for the interrupts that are theirs.
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

  /// Goes on in another run with what was open.
  void goOn() {
    activities.clear();
    called.clear();
    steps.values().forEach(name -> add(AgUiEvent.STEP_STARTED.json().put("stepName", name)));
    agents.values().forEach(started -> add(started.deepCopy()));
  }

  /// Closes all that is open, for good.
  void close() {
    closeWords();
    for (var task : List.copyOf(agents.keySet()).reversed()) {
      agentEnded(
          task,
          AgUiEvent.SUBAGENT_ERROR
              .of(task.value())
              .put("message", "the run ended before")
              .put("code", "canceled"));
    }
    List.copyOf(steps.keySet()).forEach(this::stepped);
  }

  private void closeWords() {
    List.copyOf(thoughts.keySet()).forEach(this::rest);
    List.copyOf(texts.keySet()).forEach(this::hush);
  }

  /// What opens all that is open now, for a reader who comes in the middle.
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

  /// A text that nobody has streamed, as a message of its own.
  void message(String id, String content) {
    add(AgUiEvent.TEXT_MESSAGE_START.about(null, id).put("role", "assistant"));
    add(AgUiEvent.TEXT_MESSAGE_CONTENT.about(null, id).put("delta", content));
    add(AgUiEvent.TEXT_MESSAGE_END.about(null, id));
  }

  /// An activity: whole when it is first told of in a run, later only what is new.
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

  /// A patch that sets every key, whether it is there or not.
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
