package dev.parley.agent;

import dev.parley.agent.CallStory.Purpose;
import dev.parley.agent.CallStory.Question;
import dev.parley.model.ToolArguments;
import dev.parley.protocol.ContentEvent.ToolCall;
import dev.parley.protocol.Event;
import dev.parley.protocol.InputEvent.InputLapsed;
import dev.parley.protocol.InputId;
import dev.parley.protocol.Json;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.TaskEvent.TaskStatus;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.ToolCallId;
import dev.parley.protocol.ToolEvent;
import dev.parley.protocol.ToolEvent.ToolProgress;
import dev.parley.task.Outcome;
import dev.parley.task.Run;
import dev.parley.tool.Answer;
import dev.parley.tool.PlatformThreads;
import dev.parley.tool.Tool;
import dev.parley.tool.Tool.Permission;
import dev.parley.tool.ToolResult;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// Makes the tool calls of a turn, from the state that the log has: asks for approval, starts
/// calls, in parallel where the tools allow it, and continues calls after an answer or the end of a
/// sub-agent.
///
/// The order of each call is: the model's turn is durable, approval, `tool-start`, effect,
/// `tool-complete`. After a crash it is unknown whether a call that has started and not ended took
/// effect, and the effect class of its tool decides what happens. Not thread-safe.
final class Calls implements AutoCloseable {

  private static final int PARALLEL_MAX = 16;

  /// How often a call is started that a server stop interrupts each time: the call may be the cause
  /// of a crash.
  private static final int STARTS_MAX = 3;

  private static final int PREVIEW_MAX = 20_000;

  /// The dependencies of the calls of a task.
  record Parts(
      Map<String, Tool> tools,
      Policy policy,
      Coordinators coordinators,
      Questions questions,
      Thoughts thoughts,
      Spawns spawns,
      PlatformThreads threads) {}

  private final Run run;
  private final Parts parts;
  private final Crew crew;

  Calls(Run run, Parts parts) {
    this.run = run;
    this.parts = parts;
    this.crew = new Crew(run);
  }

  /// Continues until every call of the turn has ended, or until the calls must wait for an answer
  /// or a sub-agent; then returns that wait.
  Optional<Outcome.Parked> advance(Story story) throws InterruptedException {
    while (true) {
      // Read before the new entries: a call that is no longer running has written its result.
      var busy = crew.calls();
      crew.check();
      story.read(run.news());
      var calls = story.calls();
      if (calls.isEmpty()) {
        return Optional.empty();
      }
      if (!step(calls, busy)) {
        if (busy.isEmpty()) {
          return Optional.of(parked(calls));
        }
        if (allAsk(calls, busy)) {
          var waits = parked(calls);
          run.restUntilNews(new TaskStatus(waits.state(), null, waits.metadata()));
        } else {
          run.awaitSignal();
        }
      }
    }
  }

  /// True if each running call has asked a question and waits for the answer.
  private static boolean allAsk(List<CallStory> calls, Set<ToolCallId> busy) {
    var asking =
        calls.stream()
            .filter(call -> call.end().isEmpty())
            .filter(
                call ->
                    call.question()
                        .filter(asked -> asked.open() && asked.purpose() == Purpose.LIVE)
                        .isPresent())
            .map(call -> call.call().id())
            .collect(Collectors.toSet());
    return asking.containsAll(busy);
  }

  /// Does everything that can be done now. False if there was nothing to do.
  private boolean step(List<CallStory> calls, Set<ToolCallId> busy) throws InterruptedException {
    var events = new ArrayList<Event>();
    var work = new ArrayList<Runnable>();
    var orderly = true;
    var exclusive = false;
    for (var call : calls) {
      if (call.end().isPresent()) {
        continue;
      }
      var tool = parts.tools().get(call.call().name());
      var concurrent = tool == null || tool.concurrent();
      if (!busy.contains(call.call().id())) {
        var room =
            concurrent ? !exclusive && work.size() < PARALLEL_MAX : orderly && work.isEmpty();
        plan(call, tool, room, events, work);
        exclusive |= !concurrent && !work.isEmpty();
      }
      // Calls that cannot run in parallel keep their order.
      orderly &= concurrent;
    }
    if (!events.isEmpty()) {
      run.emitUnlessCanceled(events);
      run.reach("calls-written");
    }
    work.forEach(Runnable::run);
    return !events.isEmpty() || !work.isEmpty() || consult(calls);
  }

  private void plan(
      CallStory call, @Nullable Tool tool, boolean room, List<Event> events, List<Runnable> work)
      throws InterruptedException {
    if (tool == null) {
      if (!call.started()) {
        events.add(Results.start(run, call.call(), null, call.call().arguments()));
      }
      events.add(
          Results.failed(call.call(), "there is no tool called " + call.call().name(), null));
    } else if (!call.started()) {
      var broken = ToolArguments.problem(call.call().arguments());
      if (broken.isPresent()) {
        refuse(call, tool, broken.get(), events);
      } else {
        planStart(call, tool, room, events, work);
      }
    } else if (tool instanceof SpawnTool spawning) {
      planSpawned(call, spawning, events, work);
    } else {
      planStarted(call, tool, room, events, work);
    }
  }

  private void planStart(
      CallStory call, Tool tool, boolean room, List<Event> events, List<Runnable> work)
      throws InterruptedException {
    switch (parts.policy().of(tool, call.call().arguments())) {
      case DENY -> refuse(call, tool, "this call is not allowed here", events);
      case ALLOW -> launch(call, tool, call.call().arguments(), room, events, work);
      case ASK -> {
        var question = call.question().orElse(null);
        if (question == null) {
          askApproval(call, tool, events);
        } else if (question.answer() instanceof Answer.Given(var value)) {
          if (!approves(value)) {
            refuse(call, tool, denied(value), events);
          } else if (value.path("arguments") instanceof ObjectNode edited) {
            launchEdited(call, tool, edited, room, events, work);
          } else {
            launch(call, tool, call.call().arguments(), room, events, work);
          }
        } else if (question.answer() instanceof Answer.Lapsed(var reason, _)) {
          refuse(call, tool, "this call was not approved: " + reason, events);
        }
      }
    }
  }

  /// Asks for approval, unless the call is invalid.
  private void askApproval(CallStory call, Tool tool, List<Event> events)
      throws InterruptedException {
    try {
      events.add(parts.questions().approval(call.call(), tool, shown(call, tool)));
    } catch (Rejection.Invalid misfit) {
      refuse(call, tool, String.valueOf(misfit.getMessage()), events);
    }
  }

  /// Edited arguments cannot bypass the policy.
  private void launchEdited(
      CallStory call,
      Tool tool,
      ObjectNode edited,
      boolean room,
      List<Event> events,
      List<Runnable> work) {
    if (parts.policy().of(tool, edited) == Permission.DENY) {
      refuse(call, tool, "the edited call is not allowed here", events);
    } else {
      launch(call, tool, edited, room, events, work);
    }
  }

  /// The summary and the shortened preview for the person who approves.
  private Questions.Shown shown(CallStory call, Tool tool) throws InterruptedException {
    var context = new CallContext(run, parts.questions(), parts.thoughts(), call);
    var arguments = call.call().arguments();
    var thread = "tool-" + tool.name() + "-preview-" + call.call().id();
    return parts
        .threads()
        .call(
            tool.name(),
            thread,
            _ ->
                new Questions.Shown(
                    tool.summary(arguments, context),
                    tool.preview(arguments, context).map(Calls::shortened).orElse(null)));
  }

  private static String shortened(String preview) {
    return preview.length() <= PREVIEW_MAX ? preview : preview.substring(0, PREVIEW_MAX) + "…";
  }

  private static boolean approves(JsonNode value) {
    return value.isBoolean() ? value.asBoolean() : value.path("approved").asBoolean(false);
  }

  private static String denied(JsonNode value) {
    var reason = value.path("reason").asString("");
    return "a person denied this call" + (reason.isEmpty() ? "" : ": " + reason);
  }

  private void refuse(CallStory call, Tool tool, String reason, List<Event> events) {
    events.add(Results.start(run, call.call(), tool, call.call().arguments()));
    events.add(Results.failed(call.call(), reason, null));
  }

  private void launch(
      CallStory call,
      Tool tool,
      ObjectNode arguments,
      boolean room,
      List<Event> events,
      List<Runnable> work) {
    var start = Results.start(run, call.call(), tool, arguments);
    if (tool instanceof SpawnTool spawning) {
      try {
        var jobs = spawning.jobs(arguments);
        work.add(() -> spawn(start, jobs, call.call()));
      } catch (Rejection.Invalid misfit) {
        events.add(start);
        events.add(Results.failed(call.call(), String.valueOf(misfit.getMessage()), null));
      }
    } else if (room && crew.hasRoom(tool.concurrent(), PARALLEL_MAX)) {
      events.add(start);
      work.add(() -> start(call, tool, arguments));
    }
  }

  private void spawn(ToolEvent.ToolStart start, SpawnTool.Jobs jobs, ToolCall call) {
    try {
      parts.spawns().begin(start, jobs);
    } catch (Rejection.Invalid limit) {
      run.emit(List.of(start, Results.failed(call, String.valueOf(limit.getMessage()), null)));
    }
  }

  private void start(CallStory call, Tool tool, ObjectNode arguments) {
    var invocation = new Invocation(run, parts, tool, call, arguments);
    crew.start(call.call().id(), tool.concurrent(), invocation::make);
  }

  /// Plans a call that has started but is not running: it needs input, or a crash interrupted it.
  private void planStarted(
      CallStory call, Tool tool, boolean room, List<Event> events, List<Runnable> work) {
    var question = call.question().filter(asked -> call.current()).orElse(null);
    if (question != null && question.open() && question.purpose() != Purpose.LIVE) {
      return;
    }
    if (question != null && question.open()) {
      // The process that asked has stopped.
      events.add(new InputLapsed(new InputId(question.id()), "the server stopped"));
    }
    if (call.starts() >= STARTS_MAX) {
      events.add(cutOff(call, tool));
    } else if (call.left()) {
      again(call, tool, room, events, work);
    } else if (question != null && question.purpose() == Purpose.DOUBT) {
      if (question.answer() instanceof Answer.Given(var value) && approves(value)) {
        again(call, tool, room, events, work);
      } else {
        events.add(unknown(call.call()));
      }
    } else {
      switch (tool.effect()) {
        case PURE, IDEMPOTENT -> again(call, tool, room, events, work);
        case AT_MOST_ONCE -> events.add(unknown(call.call()));
        case ASK -> events.add(parts.questions().doubt(call.call()));
      }
    }
  }

  private static Event cutOff(CallStory call, Tool tool) {
    var outcome =
        switch (tool.effect()) {
          case PURE, IDEMPOTENT -> ToolEvent.Outcome.INTERRUPTED;
          case AT_MOST_ONCE, ASK -> ToolEvent.Outcome.OUTCOME_UNKNOWN;
        };
    return Results.failed(
        call.call(),
        "the server stopped "
            + call.starts()
            + " times while this call ran, so the call is not made again",
        outcome);
  }

  private static Event unknown(ToolCall call) {
    return Results.failed(
        call,
        "the server stopped while this call ran: it may or may not have taken effect, check before"
            + " you repeat it",
        ToolEvent.Outcome.OUTCOME_UNKNOWN);
  }

  private void again(
      CallStory call, Tool tool, boolean room, List<Event> events, List<Runnable> work) {
    if (room && crew.hasRoom(tool.concurrent(), PARALLEL_MAX)) {
      var metadata = Json.object().put(Story.ATTEMPT, call.attempts() + 1);
      events.add(new ToolProgress(call.call().id(), call.progress(), null, metadata));
      work.add(() -> start(call, tool, call.arguments()));
    }
  }

  private void planSpawned(
      CallStory call, SpawnTool tool, List<Event> events, List<Runnable> work) {
    var jobs = tool.jobs(call.arguments());
    var ended = Spawns.ended(call, jobs);
    if (ended.size() == jobs.list().size()) {
      events.add(
          Results.of(
              call.call(), tool.result(ended), call.subagents().orElse(null), duration(call)));
    } else if (ended.size() == call.children().size()) {
      work.add(() -> next(call, jobs));
    }
  }

  /// How long the call has taken until now, in milliseconds.
  private long duration(CallStory call) {
    var now = run.sources().clock().instant();
    return call.startedAt()
        .map(start -> Math.max(0, Duration.between(start, now).toMillis()))
        .orElse(0L);
  }

  private void next(CallStory call, SpawnTool.Jobs jobs) {
    try {
      parts.spawns().next(call, jobs);
    } catch (Rejection.Invalid limit) {
      var failed = new ToolResult.Failed(String.valueOf(limit.getMessage()));
      run.emit(
          List.of(Results.of(call.call(), failed, call.subagents().orElse(null), duration(call))));
    }
  }

  /// Asks the parent agents the open question of a sub-agent, unless only a person may answer. True
  /// if a parent agent was asked.
  private boolean consult(List<CallStory> calls) throws InterruptedException {
    if (run.origin().parentTaskId() == null) {
      return false;
    }
    for (var call : calls) {
      var question = call.question().orElse(null);
      if (call.end().isEmpty() && question != null && wantsCoordinator(question)) {
        parts.coordinators().ask(run, question.id());
        return true;
      }
    }
    return false;
  }

  private static boolean wantsCoordinator(Question question) {
    return question.open()
        && !question.auth()
        && !question.requireUser()
        && !question.consulted()
        && question.purpose() == Purpose.NEED;
  }

  /// What the task waits for, people first.
  private static Outcome.Parked parked(List<CallStory> calls) {
    var open =
        calls.stream()
            .filter(call -> call.end().isEmpty())
            .flatMap(call -> call.question().stream())
            .filter(Question::open)
            .toList();
    if (!open.isEmpty()) {
      var inputs = open.stream().filter(question -> !question.auth()).toList();
      var metadata = Json.object().put("blockedBy", "user");
      var ids = metadata.putArray(inputs.isEmpty() ? "authIds" : "inputIds");
      (inputs.isEmpty() ? open : inputs).forEach(question -> ids.add(question.id()));
      return new Outcome.Parked(
          inputs.isEmpty() ? TaskState.WAITING_AUTH : TaskState.WAITING_INPUT, metadata);
    }
    var children =
        calls.stream()
            .flatMap(call -> call.children().entrySet().stream())
            .filter(child -> child.getValue().isEmpty())
            .map(Map.Entry::getKey)
            .toList();
    if (children.isEmpty()) {
      throw new IllegalStateException("the task waits for nothing");
    }
    return waiting(children);
  }

  static Outcome.Parked waiting(List<TaskId> children) {
    var metadata = Json.object().put("blockedBy", children.getFirst().value());
    var ids = metadata.putArray("subtaskIds");
    children.forEach(child -> ids.add(child.value()));
    return new Outcome.Parked(TaskState.WAITING_SUBTASK, metadata);
  }

  @Override
  public void close() {
    crew.close();
  }
}
