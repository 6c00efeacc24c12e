package dev.parley.agent;

import dev.parley.protocol.ContentEvent.ToolCall;
import dev.parley.protocol.Event;
import dev.parley.protocol.QuestionPurpose;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.ToolEvent;
import dev.parley.task.TaskRun;
import dev.parley.tool.PlatformThreads;
import dev.parley.tool.Tool;
import dev.parley.tool.ToolResult;
import dev.parley.tool.ToolResult.ToolSignIn;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import tools.jackson.databind.node.ObjectNode;

/// Calls a tool once and writes the result.
final class ToolInvocation {

  private static final System.Logger LOGGER = System.getLogger(ToolInvocation.class.getName());

  private final TaskRun taskRun;
  private final QuestionFactory questionFactory;
  private final PlatformThreads threads;
  private final Tool tool;
  private final ToolCall call;
  private final ObjectNode arguments;
  private final ToolCallContext context;
  private final int retries;
  private final Optional<Instant> startedAt;

  ToolInvocation(
      TaskRun taskRun,
      ToolCalls.ToolCallsDependencies toolCallsDependencies,
      Tool tool,
      ToolCallHistory story,
      ObjectNode arguments) {
    this.taskRun = taskRun;
    this.questionFactory = toolCallsDependencies.questions();
    this.threads = toolCallsDependencies.threads();
    this.tool = tool;
    this.call = story.call();
    this.arguments = arguments;
    this.context =
        new ToolCallContext(
            taskRun, toolCallsDependencies.questions(), toolCallsDependencies.thoughts(), story);
    this.retries = story.retries();
    this.startedAt = story.startedAt();
  }

  /// Returns when the result, or the tool's question, is durable. Writes nothing if the call was
  /// canceled in the meantime.
  void run() throws InterruptedException {
    var clock = taskRun.sources().time();
    // A call that is repeated with an answer began with its first attempt.
    var began = startedAt.orElseGet(clock::instant);
    taskRun.reachFailPoint("tool-started");
    if (!isOpen()) {
      return;
    }
    ToolResult result;
    try {
      result = call();
    } catch (PlatformThreads.StuckCallException stuck) {
      endStuckCall(stuck);
      return;
    }
    taskRun.reachFailPoint("tool-effect");
    var duration = Math.max(0, Duration.between(began, clock.instant()).toMillis());
    var event =
        switch (result) {
          case ToolResult.NeedsAnswer(var toolQuestion) ->
              questionFactory.need(call, toolQuestion, QuestionPurpose.NEED);
          case ToolResult.NeedsSignIn(var toolSignIn) -> signIn(toolSignIn, duration);
          case ToolResult.Done _, ToolResult.Failed _ ->
              ToolCallEvents.of(call, result, duration, retries, TextOrigins.of(tool, arguments));
        };
    write(event);
    taskRun.reachFailPoint("tool-completed");
  }

  /// Ends a call that does not stop. If the server is stopping, the call is left open, as after a
  /// crash.
  private void endStuckCall(PlatformThreads.StuckCallException stuck) throws InterruptedException {
    if (taskRun.serverStopping()) {
      throw new InterruptedException();
    }
    var outcome =
        tool.effect() == Tool.Effect.PURE
            ? ToolEvent.Outcome.INTERRUPTED
            : ToolEvent.Outcome.OUTCOME_UNKNOWN;
    write(ToolCallEvents.failed(call, String.valueOf(stuck.getMessage()), outcome));
  }

  private Event signIn(ToolSignIn toolSignIn, long duration) throws InterruptedException {
    try {
      return questionFactory.signIn(call, toolSignIn);
    } catch (Rejection.Invalid impossible) {
      var failed = new ToolResult.Failed(String.valueOf(impossible.getMessage()));
      return ToolCallEvents.of(call, failed, duration, retries);
    }
  }

  /// False if the call has ended already.
  private boolean isOpen() {
    return taskRun.inspect(
        state ->
            state
                .openTask(taskRun.origin().taskId())
                .filter(task -> task.openCalls().containsKey(call.id()))
                .isPresent());
  }

  private void write(Event event) {
    taskRun.emit(
        state -> {
          var task = state.openTask(taskRun.origin().taskId());
          var open = task.isPresent() && task.get().openCalls().containsKey(call.id());
          return open ? List.of(event) : List.of();
        });
  }

  private ToolResult call() throws InterruptedException {
    try {
      return threads.call(
          tool.name(),
          "tool-" + tool.name() + "-" + call.id(),
          runPermit -> tool.call(arguments, context.withPlace(runPermit)));
    } catch (PlatformThreads.StuckCallException stuck) {
      throw stuck;
    } catch (Rejection.Invalid misfit) {
      return new ToolResult.Failed(String.valueOf(misfit.getMessage()));
    } catch (Rejection.Conflict ended) {
      if (ended.code().equals("tool-ended")) {
        return new ToolResult.Failed("canceled");
      }
      throw ended;
    } catch (Rejection refused) {
      throw refused;
    } catch (RuntimeException broken) {
      LOGGER.log(
          System.Logger.Level.ERROR, "the tool " + call.name() + " failed unexpectedly", broken);
      return new ToolResult.Failed("the tool failed unexpectedly");
    }
  }
}
