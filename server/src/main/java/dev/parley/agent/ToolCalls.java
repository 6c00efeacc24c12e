package dev.parley.agent;

import dev.parley.agent.TaskQuestion.ApprovalDecision;
import dev.parley.model.ToolArguments;
import dev.parley.protocol.AuthId;
import dev.parley.protocol.BudgetView.BudgetResource;
import dev.parley.protocol.ContentEvent.ToolCall;
import dev.parley.protocol.Event;
import dev.parley.protocol.InputEvent.InputLapsed;
import dev.parley.protocol.InputId;
import dev.parley.protocol.QuestionPurpose;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.StatusFacts;
import dev.parley.protocol.TaskEvent.TaskStatus;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.ToolCallFacts;
import dev.parley.protocol.ToolCallId;
import dev.parley.protocol.ToolEvent;
import dev.parley.protocol.ToolEvent.ToolProgress;
import dev.parley.task.TaskOutcome;
import dev.parley.task.TaskRun;
import dev.parley.tool.PlatformThreads;
import dev.parley.tool.Tool;
import dev.parley.tool.Tool.Permission;
import dev.parley.tool.ToolAnswer;
import dev.parley.tool.ToolResult;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// Makes the tool calls of a turn, from the state that the log has: asks for approval, starts
/// calls, in parallel where the tools allow it, and continues calls after an answer or the end of a
/// sub-agent.
///
/// The order of each call is: the model's turn is durable, approval, `tool-start`, effect,
/// `tool-complete`. After a crash it is unknown whether a call that has started and not ended took
/// effect, and the effect class of its tool decides what happens. Not thread-safe.
final class ToolCalls implements AutoCloseable {

  private static final int PARALLEL_MAX = 16;

  /// How often a call is started that a server stop interrupts each time: the call may be the cause
  /// of a crash.
  private static final int STARTS_MAX = 3;

  private static final int PREVIEW_MAX = 20_000;

  /// The dependencies of the calls of a task.
  record ToolCallsDependencies(
      Map<String, Tool> tools,
      ToolPolicy policy,
      ParentAgentQuestions parentAgents,
      QuestionFactory questions,
      ThoughtCounter thoughts,
      SubtaskCalls subtaskCalls,
      PlatformThreads threads,
      UntrustedText untrustedText) {}

  private final TaskRun taskRun;
  private final ToolCallsDependencies dependencies;
  private final ToolThreads toolThreads;

  ToolCalls(TaskRun taskRun, ToolCallsDependencies toolCallsDependencies) {
    this.taskRun = taskRun;
    this.dependencies = toolCallsDependencies;
    this.toolThreads = new ToolThreads(taskRun);
  }

  /// Continues until every call of the turn has ended, or until the calls must wait for an answer,
  /// a sub-agent or the end of a pause; then returns that wait.
  Optional<TaskOutcome> advance(ModelTaskHistory modelTaskHistory) throws InterruptedException {
    while (true) {
      // Read before the new entries: a call that is no longer running has written its result.
      var busy = toolThreads.calls();
      toolThreads.check();
      modelTaskHistory.read(taskRun.readNewEntries());
      var calls = modelTaskHistory.calls();
      if (calls.isEmpty()) {
        return Optional.empty();
      }
      // While the task is paused, calls that run may end, and no other call starts.
      var pause = taskRun.controls().pause();
      if (pause.isPresent() || !step(calls, busy)) {
        if (busy.isEmpty()) {
          return Optional.of(
              pause.isEmpty() || waitsForOthers(calls)
                  ? parked(calls)
                  : new TaskOutcome.Suspended(pause.get()));
        }
        if (allWaitForAnswers(calls, busy)) {
          var waits = parked(calls);
          taskRun.waitForNewEntries(new TaskStatus(waits.state(), null, waits.metadata()));
        } else {
          taskRun.awaitSignal();
        }
      }
    }
  }

  /// True if a call waits for a person or a sub-agent.
  private static boolean waitsForOthers(List<ToolCallHistory> calls) {
    return calls.stream()
        .filter(call -> call.end().isEmpty())
        .anyMatch(
            call ->
                call.question().filter(TaskQuestion::open).isPresent()
                    || call.children().values().stream().anyMatch(Optional::isEmpty));
  }

  /// True if each running call has asked a question and waits for the answer.
  private static boolean allWaitForAnswers(List<ToolCallHistory> calls, Set<ToolCallId> busy) {
    var asking =
        calls.stream()
            .filter(call -> call.end().isEmpty())
            .filter(
                call ->
                    call.question()
                        .filter(asked -> asked.open() && asked.purpose() == QuestionPurpose.LIVE)
                        .isPresent())
            .map(call -> call.call().id())
            .collect(Collectors.toSet());
    return asking.containsAll(busy);
  }

  /// Does everything that can be done now. False if there was nothing to do.
  private boolean step(List<ToolCallHistory> calls, Set<ToolCallId> busy)
      throws InterruptedException {
    var events = new ArrayList<Event>();
    var work = new ArrayList<Runnable>();
    var orderly = true;
    var exclusive = false;
    for (var call : calls) {
      if (call.end().isPresent()) {
        continue;
      }
      var tool = dependencies.tools().get(call.call().name());
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
      taskRun.emitUnlessCanceled(events);
      taskRun.reachFailPoint("calls-written");
    }
    work.forEach(Runnable::run);
    return !events.isEmpty() || !work.isEmpty() || askParentAgents(calls);
  }

  private void plan(
      ToolCallHistory call,
      @Nullable Tool tool,
      boolean room,
      List<Event> events,
      List<Runnable> work)
      throws InterruptedException {
    if (tool == null) {
      if (!call.started()) {
        events.add(ToolCallEvents.start(taskRun, call, null, call.requestedArguments()));
      }
      events.add(
          ToolCallEvents.failed(
              call.call(), "there is no tool called " + call.call().name(), null));
    } else if (!call.started()) {
      var broken = ToolArguments.problem(call.requestedArguments());
      if (broken.isPresent()) {
        reject(call, tool, broken.get(), events);
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
      ToolCallHistory call, Tool tool, boolean room, List<Event> events, List<Runnable> work)
      throws InterruptedException {
    var byRules = dependencies.policy().permissionFor(tool, call.requestedArguments());
    var untrusted =
        byRules == Permission.DENY
            ? Optional.<String>empty()
            : dependencies.untrustedText().reason(tool);
    switch (untrusted.isPresent() ? Permission.ASK : byRules) {
      case DENY -> reject(call, tool, "this call is not allowed here", events);
      case ALLOW -> launch(call, tool, call.requestedArguments(), null, room, events, work);
      case ASK -> {
        var question = call.question().orElse(null);
        if (question == null) {
          // After untrusted text, no rule replaces a person.
          var rule = untrusted.isPresent() ? Optional.<String>empty() : rule(call);
          if (rule.isPresent()) {
            launch(call, tool, call.requestedArguments(), rule.get(), room, events, work);
          } else {
            askApproval(call, tool, untrusted, events);
          }
        } else if (question.answer() instanceof ToolAnswer.Given) {
          switch (question.decision(call.requestedArguments())) {
            case ApprovalDecision.Denied(var reason) -> reject(call, tool, reason, events);
            case ApprovalDecision.Allowed(var arguments) ->
                launchApproved(call, tool, call.arguments(arguments), room, events, work);
          }
        } else if (question.answer() instanceof ToolAnswer.Lapsed(var reason, _)) {
          reject(call, tool, "this call was not approved: " + reason, events);
        }
      }
    }
  }

  /// The rule with which the owner of the context always allows this call.
  private Optional<String> rule(ToolCallHistory call) {
    var hash = QuestionFactory.hash(call.call().name(), call.call().arguments());
    var now = taskRun.sources().time().instant();
    return taskRun.controls().rule(taskRun.owner(), taskRun.context(), hash, now);
  }

  /// Asks for approval, unless the call is invalid.
  private void askApproval(
      ToolCallHistory call, Tool tool, Optional<String> reason, List<Event> events)
      throws InterruptedException {
    try {
      events.add(dependencies.questions().approval(call.call(), tool, preview(call, tool), reason));
    } catch (Rejection.Invalid misfit) {
      reject(call, tool, String.valueOf(misfit.getMessage()), events);
    }
  }

  /// Edited arguments cannot bypass the policy.
  private void launchApproved(
      ToolCallHistory call,
      Tool tool,
      ObjectNode approved,
      boolean room,
      List<Event> events,
      List<Runnable> work) {
    if (dependencies.policy().permissionFor(tool, approved) == Permission.DENY) {
      reject(call, tool, "the edited call is not allowed here", events);
    } else {
      launch(call, tool, approved, null, room, events, work);
    }
  }

  /// The summary and the shortened preview for the person who approves.
  private QuestionFactory.CallPreview preview(ToolCallHistory call, Tool tool)
      throws InterruptedException {
    var context =
        new ToolCallContext(taskRun, dependencies.questions(), dependencies.thoughts(), call);
    var arguments = call.requestedArguments();
    var thread = "tool-" + tool.name() + "-preview-" + call.call().id();
    try {
      return dependencies
          .threads()
          .call(
              tool.name(),
              thread,
              _ ->
                  new QuestionFactory.CallPreview(
                      tool.summary(arguments, context),
                      tool.preview(arguments, context).map(ToolCalls::shortened).orElse(null)));
    } catch (PlatformThreads.StuckCallException stuck) {
      // The task was asked to stop; the code that stopped it writes its end.
      throw new InterruptedException(stuck.getMessage());
    }
  }

  private static String shortened(String preview) {
    return preview.length() <= PREVIEW_MAX ? preview : preview.substring(0, PREVIEW_MAX) + "…";
  }

  private void reject(ToolCallHistory call, Tool tool, String reason, List<Event> events) {
    events.add(ToolCallEvents.start(taskRun, call, tool, call.requestedArguments()));
    events.add(ToolCallEvents.failed(call.call(), reason, null));
  }

  /// Starts the call. `rule` is the approval rule that allows it, if one does.
  private void launch(
      ToolCallHistory call,
      Tool tool,
      ObjectNode arguments,
      @Nullable String rule,
      boolean room,
      List<Event> events,
      List<Runnable> work) {
    var exceeded = taskRun.controls().exceeded(EnumSet.of(BudgetResource.TOOL_CALLS));
    if (exceeded.isPresent()) {
      reject(call, tool, exceeded.get(), events);
      return;
    }
    var start = ToolCallEvents.start(taskRun, call, tool, arguments);
    if (rule != null && start.metadata() != null) {
      ToolCallFacts.putRule(start.metadata(), rule);
    }
    if (tool instanceof SpawnTool spawning) {
      try {
        var subagentJobs = spawning.jobs(arguments);
        work.add(() -> spawn(start, subagentJobs, call.call()));
      } catch (Rejection.Invalid misfit) {
        events.add(start);
        events.add(ToolCallEvents.failed(call.call(), String.valueOf(misfit.getMessage()), null));
      }
    } else if (room && toolThreads.hasRoom(tool.concurrent(), PARALLEL_MAX)) {
      events.add(start);
      work.add(() -> start(call, tool, arguments));
    }
  }

  private void spawn(
      ToolEvent.ToolStart start, SpawnTool.SubagentJobs subagentJobs, ToolCall call) {
    try {
      dependencies.subtaskCalls().start(start, subagentJobs);
    } catch (Rejection.Invalid limit) {
      taskRun.emit(
          List.of(start, ToolCallEvents.failed(call, String.valueOf(limit.getMessage()), null)));
    }
  }

  private void start(ToolCallHistory call, Tool tool, ObjectNode arguments) {
    var toolInvocation = new ToolInvocation(taskRun, dependencies, tool, call, arguments);
    toolThreads.start(call.call().id(), tool.concurrent(), toolInvocation::run);
  }

  /// Plans a call that has started but is not running: it needs input, or a crash interrupted it.
  private void planStarted(
      ToolCallHistory call, Tool tool, boolean room, List<Event> events, List<Runnable> work) {
    var question = call.question().filter(asked -> call.questionIsCurrent()).orElse(null);
    if (question != null && question.open() && question.purpose() != QuestionPurpose.LIVE) {
      return;
    }
    if (question != null && question.open()) {
      // The process that asked has stopped.
      events.add(new InputLapsed(new InputId(question.id()), "the server stopped"));
    }
    if (call.starts() >= STARTS_MAX) {
      events.add(cutOff(call, tool));
    } else if (call.returnedForInput()) {
      restart(call, tool, room, events, work);
    } else if (question != null && question.purpose() == QuestionPurpose.DOUBT) {
      if (question.decision(call.arguments()) instanceof ApprovalDecision.Allowed) {
        restart(call, tool, room, events, work);
      } else {
        events.add(outcomeUnknown(call.call()));
      }
    } else {
      switch (tool.effect()) {
        case PURE, IDEMPOTENT -> restart(call, tool, room, events, work);
        case AT_MOST_ONCE -> events.add(outcomeUnknown(call.call()));
        case ASK -> events.add(dependencies.questions().doubt(call.call()));
      }
    }
  }

  private static Event cutOff(ToolCallHistory call, Tool tool) {
    var outcome =
        switch (tool.effect()) {
          case PURE, IDEMPOTENT -> ToolEvent.Outcome.INTERRUPTED;
          case AT_MOST_ONCE, ASK -> ToolEvent.Outcome.OUTCOME_UNKNOWN;
        };
    return ToolCallEvents.failed(
        call.call(),
        "the server stopped "
            + call.starts()
            + " times while this call ran, so the call is not made again",
        outcome);
  }

  private static Event outcomeUnknown(ToolCall call) {
    return ToolCallEvents.failed(
        call,
        "the server stopped while this call ran: it may or may not have taken effect, check before"
            + " you repeat it",
        ToolEvent.Outcome.OUTCOME_UNKNOWN);
  }

  private void restart(
      ToolCallHistory call, Tool tool, boolean room, List<Event> events, List<Runnable> work) {
    if (room && toolThreads.hasRoom(tool.concurrent(), PARALLEL_MAX)) {
      var metadata = ToolCallFacts.ofAttempt(call.attempts() + 1);
      events.add(new ToolProgress(call.call().id(), call.progress(), null, metadata));
      work.add(() -> start(call, tool, call.arguments()));
    }
  }

  private void planSpawned(
      ToolCallHistory call, SpawnTool tool, List<Event> events, List<Runnable> work) {
    var subagentJobs = tool.jobs(call.arguments());
    var ended = SubtaskCalls.endedJobs(call, subagentJobs);
    if (ended.size() == subagentJobs.list().size()) {
      events.add(
          ToolCallEvents.of(
              call.call(), tool.result(ended), call.subagents().orElse(null), duration(call)));
    } else if (ended.size() == call.children().size()) {
      work.add(() -> startNextSubtask(call, subagentJobs));
    }
  }

  /// How long the call has taken until now, in milliseconds.
  private long duration(ToolCallHistory call) {
    var now = taskRun.sources().time().instant();
    return call.startedAt()
        .map(start -> Math.max(0, Duration.between(start, now).toMillis()))
        .orElse(0L);
  }

  private void startNextSubtask(ToolCallHistory call, SpawnTool.SubagentJobs subagentJobs) {
    try {
      dependencies.subtaskCalls().startNext(call, subagentJobs);
    } catch (Rejection.Invalid limit) {
      var failed = new ToolResult.Failed(String.valueOf(limit.getMessage()));
      taskRun.emit(
          List.of(
              ToolCallEvents.of(
                  call.call(), failed, call.subagents().orElse(null), duration(call))));
    }
  }

  /// Asks the parent agents the open question of a sub-agent, unless only a person may answer. True
  /// if a parent agent was asked.
  private boolean askParentAgents(List<ToolCallHistory> calls) throws InterruptedException {
    if (taskRun.origin().parentTaskId() == null) {
      return false;
    }
    for (var call : calls) {
      var question = call.question().orElse(null);
      if (call.end().isEmpty() && question != null && isForParentAgent(question)) {
        dependencies.parentAgents().ask(taskRun, question.id());
        return true;
      }
    }
    return false;
  }

  private static boolean isForParentAgent(TaskQuestion question) {
    return question.open()
        && !question.signIn()
        && !question.requireUser()
        && !question.consulted()
        && question.purpose() == QuestionPurpose.NEED;
  }

  /// What the task waits for, people first.
  private static TaskOutcome.Parked parked(List<ToolCallHistory> calls) {
    var open =
        calls.stream()
            .filter(call -> call.end().isEmpty())
            .flatMap(call -> call.question().stream())
            .filter(TaskQuestion::open)
            .toList();
    if (!open.isEmpty()) {
      var inputs = open.stream().filter(question -> !question.signIn()).toList();
      return inputs.isEmpty()
          ? new TaskOutcome.Parked(
              TaskState.WAITING_AUTH,
              StatusFacts.ofWaitingForSignIns(
                  open.stream().map(asked -> new AuthId(asked.id())).toList()))
          : new TaskOutcome.Parked(
              TaskState.WAITING_INPUT,
              StatusFacts.ofWaiting(
                  inputs.stream().map(asked -> new InputId(asked.id())).toList()));
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

  static TaskOutcome.Parked waiting(List<TaskId> children) {
    return new TaskOutcome.Parked(
        TaskState.WAITING_SUBTASK, StatusFacts.ofWaitingForSubtasks(children));
  }

  @Override
  public void close() {
    toolThreads.close();
  }
}
