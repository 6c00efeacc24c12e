package dev.parley.api.agui;

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
import java.util.List;
import java.util.Random;
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
  private final List<RandomTask> tasks = new ArrayList<>();
  private int names;

  RandomThread(long seed) {
    random = new Random(seed);
    var turns = 1 + random.nextInt(3);
    for (var turn = 0; turn < turns; turn++) {
      turn();
    }
  }

  /// A running task: its remaining steps, and its open questions.
  private final class RandomTask {
    final Origin origin;
    final int depth;
    final Deque<Runnable> steps = new ArrayDeque<>();
    final List<InputRequired> asked = new ArrayList<>();
    int children;

    RandomTask(Origin origin, int depth) {
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
    var root = new RandomTask(Origin.root(task, new AgentTypeId("agent")), 0);
    root.emit(created(random.nextBoolean() ? Json.object().put("runId", name("run")) : null));
    if (random.nextInt(8) == 0) {
      root.emit(new CancelRequested("local", null));
      root.status(TaskState.CANCELED);
      return;
    }
    root.status(TaskState.WORKING);
    tasks.add(root);
    if (random.nextInt(4) == 0) {
      var routing = Json.object();
      routing.putObject("routing").put("strategy", "single");
      root.emit(new TaskStatus(TaskState.WORKING, null, routing));
      spawn(root, 1);
    } else {
      plan(root);
    }
    while (!tasks.isEmpty()) {
      step();
    }
  }

  private static TaskCreated created(@Nullable ObjectNode metadata) {
    return new TaskCreated(Initiator.USER, metadata, null, "work", null, null, null, null);
  }

  private void step() {
    var ready =
        tasks.stream()
            .filter(randomTask -> !randomTask.steps.isEmpty() && !waits(randomTask))
            .toList();
    var asking = tasks.stream().filter(randomTask -> !randomTask.asked.isEmpty()).toList();
    if (!ready.isEmpty() && (asking.isEmpty() || random.nextInt(20) > 0)) {
      var randomTask = ready.get(random.nextInt(ready.size()));
      randomTask.steps.removeFirst().run();
    } else if (!asking.isEmpty()) {
      answer(asking.get(random.nextInt(asking.size())));
    } else {
      throw new IllegalStateException("no task can continue");
    }
  }

  private static boolean waits(RandomTask randomTask) {
    return !randomTask.asked.isEmpty() || randomTask.children > 0;
  }

  private void answer(RandomTask randomTask) {
    var input = randomTask.asked.removeFirst().inputId();
    switch (random.nextInt(4)) {
      case 0 ->
          randomTask.emit(
              new InputLapsed(input, random.nextBoolean() ? "abandoned in run x1" : "late"));
      case 1 -> randomTask.emit(received(input, Json.object().put("runId", name("run"))));
      default -> randomTask.emit(received(input, null));
    }
    if (randomTask.asked.isEmpty()) {
      randomTask.steps.addFirst(() -> randomTask.status(TaskState.WORKING));
    }
  }

  private static InputReceived received(InputId input, @Nullable ObjectNode metadata) {
    return new InputReceived(
        input, InputEvent.Provider.USER, "local", null, metadata, BooleanNode.TRUE);
  }

  private void plan(RandomTask randomTask) {
    var turns = 1 + random.nextInt(4);
    for (var i = 0; i < turns; i++) {
      switch (random.nextInt(8)) {
        case 0, 1 -> planText(randomTask, List.of());
        case 2 -> planThought(randomTask);
        case 3 -> call(randomTask, false, "local");
        case 4 -> call(randomTask, true, "local");
        case 5 -> call(randomTask, true, "client");
        case 6 -> {
          if (randomTask.depth < 3) {
            randomTask.steps.add(() -> spawn(randomTask, 1 + random.nextInt(3)));
          }
        }
        default -> write(randomTask);
      }
    }
    randomTask.steps.add(() -> end(randomTask));
  }

  private void planText(RandomTask randomTask, List<ToolCall> calls) {
    var block = new BlockId(name("b"));
    var pieces = random.nextInt(4);
    var text = new StringBuilder();
    for (var i = 0; i < pieces; i++) {
      var index = i;
      text.append("x");
      randomTask.steps.add(() -> randomTask.emit(new ContentDelta("x", index, block)));
    }
    var whole = pieces == 0 && random.nextBoolean() ? "all" : text.toString();
    randomTask.steps.add(
        () -> randomTask.emit(new ContentComplete(whole, block, null, null, null, calls)));
    randomTask.steps.add(() -> randomTask.emit(new Usage("m", 3, 4, 1L, null, null)));
  }

  private void planThought(RandomTask randomTask) {
    var thought = new ThoughtId(name("h"));
    var pieces = 1 + random.nextInt(3);
    for (var i = 0; i < pieces; i++) {
      var index = i;
      randomTask.steps.add(
          () ->
              randomTask.emit(
                  new ThoughtStream(
                      thought, ThoughtType.THINKING, Verbosity.BRIEF, "hm", index, null, null)));
    }
  }

  private void call(RandomTask randomTask, boolean asks, String provider) {
    var id = new ToolCallId(name("call"));
    if (random.nextBoolean()) {
      planText(randomTask, List.of(new ToolCall(id, "tool", Json.object())));
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
      randomTask.steps.add(() -> randomTask.emit(start));
    }
    if (asks) {
      randomTask.steps.add(() -> ask(randomTask, id, client));
    }
    if (!client) {
      randomTask.steps.add(() -> randomTask.emit(start));
    }
    randomTask.steps.add(() -> randomTask.emit(new ToolProgress(id, 0.5, "half", null)));
    randomTask.steps.add(() -> randomTask.emit(new ToolProgress(id, 1, null, null)));
    var success = random.nextBoolean();
    randomTask.steps.add(
        () ->
            randomTask.emit(
                new ToolComplete(
                    id, "tool", success, Json.object(), success ? null : "no", null, null, null)));
  }

  private void ask(RandomTask randomTask, ToolCallId call, boolean client) {
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
    randomTask.emit(asked);
    randomTask.asked.add(asked);
    randomTask.status(TaskState.WAITING_INPUT);
  }

  private void spawn(RandomTask randomTask, int count) {
    var call = new ToolCallId(name("call"));
    var invocation = new InvocationId(name("batch"));
    var calls = List.of(new ToolCall(call, "subagents", Json.object()));
    randomTask.emit(new ContentComplete("", new BlockId(name("b")), null, null, null, calls));
    randomTask.emit(new ToolStart(call, "subagents", Json.object(), null, 1, null, null, null));
    for (var i = 0; i < count; i++) {
      var task = new TaskId(name("task"));
      var agent = new AgentTypeId("helper");
      var origin =
          new Origin(
              task,
              randomTask.origin.taskId(),
              randomTask.origin.rootTaskId(),
              agent,
              AgentLevel.SUBAGENT,
              invocation,
              call,
              null);
      randomTask.emit(new SubtaskCreated(task, agent, "help"));
      var child = new RandomTask(origin, randomTask.depth + 1);
      child.emit(created(null));
      child.steps.add(() -> child.status(TaskState.WORKING));
      plan(child);
      tasks.add(child);
      randomTask.children++;
    }
    randomTask.status(TaskState.WAITING_SUBTASK);
    // Before the other planned steps, once all subtasks have ended.
    randomTask.steps.addFirst(
        () ->
            randomTask.emit(
                new ToolComplete(call, "subagents", true, Json.object(), null, null, null, null)));
    randomTask.steps.addFirst(() -> randomTask.status(TaskState.WORKING));
    if (randomTask.steps.size() == 2) {
      randomTask.steps.add(() -> end(randomTask));
    }
  }

  private void write(RandomTask randomTask) {
    var id = new ArtifactId(name("artifact"));
    if (random.nextBoolean()) {
      randomTask.steps.add(
          () ->
              randomTask.emit(
                  new DataWrite(id, "da/ta~", null, Json.object().put("n", 1), null, 1)));
      return;
    }
    randomTask.steps.add(
        () ->
            randomTask.emit(new FileWrite(id, "a", 0, false, "a.txt", null, null, null, null, 1)));
    randomTask.steps.add(
        () -> randomTask.emit(new FileWrite(id, "b", 1, true, null, null, null, null, null, 1)));
  }

  private void end(RandomTask randomTask) {
    tasks.remove(randomTask);
    var state =
        switch (random.nextInt(6)) {
          case 0 -> TaskState.FAILED;
          case 1 -> TaskState.CANCELED;
          default -> TaskState.COMPLETED;
        };
    if (state == TaskState.FAILED) {
      randomTask.emit(new ErrorReported(ErrorCode.LIMIT, "too much", false, ErrorScope.TASK, null));
    }
    if (randomTask.depth == 0 && state == TaskState.COMPLETED) {
      var answer = new MessageId(name("answer"));
      randomTask.emit(new Message(answer, Role.ASSISTANT, "that is it", null, null));
    }
    randomTask.status(state);
    if (state == TaskState.COMPLETED) {
      randomTask.emit(new TaskComplete("that is it", null, null));
    }
    var parent = randomTask.origin.parentTaskId();
    for (var above : tasks) {
      if (above.origin.taskId().equals(parent)) {
        above.emit(new SubtaskComplete(randomTask.origin.taskId(), state, null, null));
        above.children--;
      }
    }
  }
}
