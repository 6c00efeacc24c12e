package dev.parley.door.agui;

import dev.parley.protocol.AgentLevel;
import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.ArtifactEvent.DataWrite;
import dev.parley.protocol.ArtifactEvent.FileWrite;
import dev.parley.protocol.ArtifactId;
import dev.parley.protocol.BlockId;
import dev.parley.protocol.ContentEvent.ContentComplete;
import dev.parley.protocol.ContentEvent.ContentDelta;
import dev.parley.protocol.ContentEvent.ToolCall;
import dev.parley.protocol.ContextEvent.StateUpdated;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Entry;
import dev.parley.protocol.Event;
import dev.parley.protocol.InputEvent;
import dev.parley.protocol.InputEvent.InputLapsed;
import dev.parley.protocol.InputEvent.InputReceived;
import dev.parley.protocol.InputEvent.InputRequired;
import dev.parley.protocol.InputEvent.InputType;
import dev.parley.protocol.InputId;
import dev.parley.protocol.InvocationId;
import dev.parley.protocol.Json;
import dev.parley.protocol.MessageEvent.Message;
import dev.parley.protocol.MessageEvent.Role;
import dev.parley.protocol.MessageId;
import dev.parley.protocol.Origin;
import dev.parley.protocol.Position;
import dev.parley.protocol.ReportEvent.ErrorCode;
import dev.parley.protocol.ReportEvent.ErrorReported;
import dev.parley.protocol.ReportEvent.ErrorScope;
import dev.parley.protocol.ReportEvent.Usage;
import dev.parley.protocol.SubtaskEvent.SubtaskComplete;
import dev.parley.protocol.SubtaskEvent.SubtaskCreated;
import dev.parley.protocol.TaskEvent.CancelRequested;
import dev.parley.protocol.TaskEvent.Initiator;
import dev.parley.protocol.TaskEvent.TaskComplete;
import dev.parley.protocol.TaskEvent.TaskCreated;
import dev.parley.protocol.TaskEvent.TaskStatus;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.ThoughtEvent.ThoughtStream;
import dev.parley.protocol.ThoughtEvent.ThoughtType;
import dev.parley.protocol.ThoughtEvent.Verbosity;
import dev.parley.protocol.ThoughtId;
import dev.parley.protocol.ToolCallId;
import dev.parley.protocol.ToolEvent.ToolComplete;
import dev.parley.protocol.ToolEvent.ToolProgress;
import dev.parley.protocol.ToolEvent.ToolStart;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.BooleanNode;
import tools.jackson.databind.node.ObjectNode;

/// A random thread: some root tasks that write text, think, call tools, ask and delegate,
/// concurrently and in any order that the log allows. The same seed gives the same thread.
final class RandomThread {

  static final ContextId THREAD = new ContextId("random");

  final List<Entry> entries = new ArrayList<>();
  private final Random random;
  private final List<Actor> actors = new ArrayList<>();
  private final Set<TaskId> handsOver = new HashSet<>();
  private int names;

  RandomThread(long seed) {
    random = new Random(seed);
    var turns = 1 + random.nextInt(3);
    for (var turn = 0; turn < turns; turn++) {
      turn();
    }
  }

  /// True if the entry is output of the answering agent, not of a sub-agent.
  boolean speaks(Entry entry) {
    var origin = entry.origin();
    return origin != null
        && (origin.parentTaskId() == null || handsOver.contains(origin.parentTaskId()));
  }

  /// A running task: its remaining steps, and its open questions.
  private final class Actor {
    final Origin origin;
    final int depth;
    final Deque<Runnable> steps = new ArrayDeque<>();
    final List<InputRequired> asked = new ArrayList<>();
    int children;

    Actor(Origin origin, int depth) {
      this.origin = origin;
      this.depth = depth;
    }

    void emit(Event event) {
      append(origin, event);
    }

    void status(TaskState state) {
      emit(new TaskStatus(state, null, null));
    }
  }

  private String name(String what) {
    return what + names++;
  }

  private void append(@Nullable Origin origin, Event event) {
    var seq = entries.size() + 1;
    entries.add(
        new Entry(
            THREAD, Position.of(seq), new UUID(0, seq), Instant.ofEpochMilli(seq), origin, event));
  }

  private void turn() {
    if (random.nextInt(4) == 0) {
      append(null, new StateUpdated(Json.object().put("colour", name("c"))));
    }
    var task = new TaskId(name("root"));
    var about = Json.object().put("taskId", task.value());
    var message = new MessageId(name("m"));
    append(null, new Message(message, Role.USER, "do something", null, about));
    var root = new Actor(Origin.root(task, new AgentTypeId("agent")), 0);
    root.emit(created(random.nextBoolean() ? Json.object().put("runId", name("run")) : null));
    if (random.nextInt(8) == 0) {
      root.emit(new CancelRequested("local", null));
      root.status(TaskState.CANCELED);
      return;
    }
    root.status(TaskState.WORKING);
    actors.add(root);
    if (random.nextInt(4) == 0) {
      handsOver.add(task);
      var routing = Json.object();
      routing.putObject("routing").put("strategy", "single");
      root.emit(new TaskStatus(TaskState.WORKING, null, routing));
      spawn(root, 1);
    } else {
      plan(root);
    }
    while (!actors.isEmpty()) {
      step();
    }
  }

  private static TaskCreated created(@Nullable ObjectNode metadata) {
    return new TaskCreated(Initiator.USER, metadata, null, "work", null, null, null, null);
  }

  private void step() {
    var ready = actors.stream().filter(actor -> !actor.steps.isEmpty() && !waits(actor)).toList();
    var asking = actors.stream().filter(actor -> !actor.asked.isEmpty()).toList();
    if (!ready.isEmpty() && (asking.isEmpty() || random.nextInt(20) > 0)) {
      var actor = ready.get(random.nextInt(ready.size()));
      actor.steps.removeFirst().run();
    } else if (!asking.isEmpty()) {
      answer(asking.get(random.nextInt(asking.size())));
    } else {
      throw new IllegalStateException("no task can continue");
    }
  }

  private static boolean waits(Actor actor) {
    return !actor.asked.isEmpty() || actor.children > 0;
  }

  private void answer(Actor actor) {
    var input = actor.asked.removeFirst().inputId();
    switch (random.nextInt(4)) {
      case 0 ->
          actor.emit(new InputLapsed(input, random.nextBoolean() ? "abandoned in run x1" : "late"));
      case 1 -> actor.emit(received(input, Json.object().put("runId", name("run"))));
      default -> actor.emit(received(input, null));
    }
    if (actor.asked.isEmpty()) {
      actor.steps.addFirst(() -> actor.status(TaskState.WORKING));
    }
  }

  private static InputReceived received(InputId input, @Nullable ObjectNode metadata) {
    return new InputReceived(
        input, InputEvent.Provider.USER, "local", null, metadata, BooleanNode.TRUE);
  }

  private void plan(Actor actor) {
    var turns = 1 + random.nextInt(4);
    for (var i = 0; i < turns; i++) {
      switch (random.nextInt(8)) {
        case 0, 1 -> say(actor, List.of());
        case 2 -> think(actor);
        case 3 -> call(actor, false, "local");
        case 4 -> call(actor, true, "local");
        case 5 -> call(actor, true, "client");
        case 6 -> {
          if (actor.depth < 3) {
            actor.steps.add(() -> spawn(actor, 1 + random.nextInt(3)));
          }
        }
        default -> write(actor);
      }
    }
    actor.steps.add(() -> end(actor));
  }

  private void say(Actor actor, List<ToolCall> calls) {
    var block = new BlockId(name("b"));
    var pieces = random.nextInt(4);
    var text = new StringBuilder();
    for (var i = 0; i < pieces; i++) {
      var index = i;
      text.append("x");
      actor.steps.add(() -> actor.emit(new ContentDelta("x", index, block)));
    }
    var whole = pieces == 0 && random.nextBoolean() ? "all" : text.toString();
    actor.steps.add(() -> actor.emit(new ContentComplete(whole, block, null, null, null, calls)));
    actor.steps.add(() -> actor.emit(new Usage("m", 3, 4, 1L, null, null)));
  }

  private void think(Actor actor) {
    var thought = new ThoughtId(name("h"));
    var pieces = 1 + random.nextInt(3);
    for (var i = 0; i < pieces; i++) {
      var index = i;
      actor.steps.add(
          () ->
              actor.emit(
                  new ThoughtStream(
                      thought, ThoughtType.THINKING, Verbosity.BRIEF, "hm", index, null, null)));
    }
  }

  private void call(Actor actor, boolean asks, String provider) {
    var id = new ToolCallId(name("call"));
    if (random.nextBoolean()) {
      say(actor, List.of(new ToolCall(id, "tool", Json.object())));
    }
    var start =
        new ToolStart(
            id,
            "tool",
            Json.object(),
            Json.object().put("provider", provider),
            1,
            null,
            null,
            null);
    var client = provider.equals("client");
    if (client) {
      actor.steps.add(() -> actor.emit(start));
    }
    if (asks) {
      actor.steps.add(() -> ask(actor, id, client));
    }
    if (!client) {
      actor.steps.add(() -> actor.emit(start));
    }
    actor.steps.add(() -> actor.emit(new ToolProgress(id, 0.5, "half", null)));
    actor.steps.add(() -> actor.emit(new ToolProgress(id, 1, null, null)));
    var success = random.nextBoolean();
    actor.steps.add(
        () ->
            actor.emit(
                new ToolComplete(
                    id, "tool", success, Json.object(), success ? null : "no", null, null, null)));
  }

  private void ask(Actor actor, ToolCallId call, boolean client) {
    var metadata = Json.object().put("toolCallId", call.value());
    var asked =
        new InputRequired(
            new InputId(name("input")),
            true,
            client ? InputType.TOOL_EXECUTION : InputType.CONFIRMATION,
            "May I?",
            null,
            null,
            metadata,
            null);
    actor.emit(asked);
    actor.asked.add(asked);
    actor.status(TaskState.WAITING_INPUT);
  }

  private void spawn(Actor actor, int count) {
    var call = new ToolCallId(name("call"));
    var invocation = new InvocationId(name("batch"));
    var calls = List.of(new ToolCall(call, "subagents", Json.object()));
    actor.emit(new ContentComplete("", new BlockId(name("b")), null, null, null, calls));
    actor.emit(new ToolStart(call, "subagents", Json.object(), null, 1, null, null, null));
    for (var i = 0; i < count; i++) {
      var task = new TaskId(name("task"));
      var agent = new AgentTypeId("helper");
      var origin =
          new Origin(
              task,
              actor.origin.taskId(),
              actor.origin.rootTaskId(),
              agent,
              AgentLevel.SUBAGENT,
              invocation,
              call,
              null);
      actor.emit(new SubtaskCreated(task, agent, "help"));
      var child = new Actor(origin, actor.depth + 1);
      child.emit(created(null));
      child.steps.add(() -> child.status(TaskState.WORKING));
      plan(child);
      actors.add(child);
      actor.children++;
    }
    actor.status(TaskState.WAITING_SUBTASK);
    // Before the other planned steps, once all subtasks have ended.
    actor.steps.addFirst(
        () ->
            actor.emit(
                new ToolComplete(call, "subagents", true, Json.object(), null, null, null, null)));
    actor.steps.addFirst(() -> actor.status(TaskState.WORKING));
    if (actor.steps.size() == 2) {
      actor.steps.add(() -> end(actor));
    }
  }

  private void write(Actor actor) {
    var id = new ArtifactId(name("artifact"));
    if (random.nextBoolean()) {
      actor.steps.add(
          () -> actor.emit(new DataWrite(id, "da/ta~", null, Json.object().put("n", 1), null, 1)));
      return;
    }
    actor.steps.add(
        () -> actor.emit(new FileWrite(id, "a", 0, false, "a.txt", null, null, null, null, 1)));
    actor.steps.add(
        () -> actor.emit(new FileWrite(id, "b", 1, true, null, null, null, null, null, 1)));
  }

  private void end(Actor actor) {
    actors.remove(actor);
    var state =
        switch (random.nextInt(6)) {
          case 0 -> TaskState.FAILED;
          case 1 -> TaskState.CANCELED;
          default -> TaskState.COMPLETED;
        };
    if (state == TaskState.FAILED) {
      actor.emit(new ErrorReported(ErrorCode.LIMIT, "too much", false, ErrorScope.TASK, null));
    }
    if (actor.depth == 0 && state == TaskState.COMPLETED) {
      var answer = new MessageId(name("answer"));
      actor.emit(new Message(answer, Role.ASSISTANT, "that is it", null, null));
    }
    actor.status(state);
    if (state == TaskState.COMPLETED) {
      actor.emit(new TaskComplete("that is it", null, null));
    }
    var parent = actor.origin.parentTaskId();
    for (var above : actors) {
      if (above.origin.taskId().equals(parent)) {
        above.emit(new SubtaskComplete(actor.origin.taskId(), state, null, null));
        above.children--;
      }
    }
  }
}
