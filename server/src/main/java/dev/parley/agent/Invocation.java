package dev.parley.agent;

import dev.parley.agent.CallStory.Purpose;
import dev.parley.protocol.ContentEvent.ToolCall;
import dev.parley.protocol.Event;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.ToolEvent;
import dev.parley.task.Run;
import dev.parley.tool.PlatformThreads;
import dev.parley.tool.SignIn;
import dev.parley.tool.Tool;
import dev.parley.tool.ToolResult;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import tools.jackson.databind.node.ObjectNode;

/// Calls a tool once and writes the result.
final class Invocation {

  private static final System.Logger LOGGER = System.getLogger(Invocation.class.getName());

  private final Run run;
  private final Questions questions;
  private final PlatformThreads threads;
  private final Tool tool;
  private final ToolCall call;
  private final ObjectNode arguments;
  private final CallContext context;
  private final int retries;
  private final Optional<Instant> startedAt;

  Invocation(Run run, Calls.Parts parts, Tool tool, CallStory story, ObjectNode arguments) {
    this.run = run;
    this.questions = parts.questions();
    this.threads = parts.threads();
    this.tool = tool;
    this.call = story.call();
    this.arguments = arguments;
    this.context = new CallContext(run, parts.questions(), parts.thoughts(), story);
    this.retries = story.retries();
    this.startedAt = story.startedAt();
  }

  /// Returns when the result, or the tool's question, is durable. Writes nothing if the call was
  /// canceled in the meantime.
  void make() throws InterruptedException {
    var clock = run.sources().clock();
    // A call that is repeated with an answer began with its first attempt.
    var began = startedAt.orElseGet(clock::instant);
    run.reach("tool-started");
    if (!open()) {
      return;
    }
    ToolResult result;
    try {
      result = call();
    } catch (PlatformThreads.LeftBehind stuck) {
      leaveBehind(stuck);
      return;
    }
    run.reach("tool-effect");
    var duration = Math.max(0, Duration.between(began, clock.instant()).toMillis());
    var event =
        switch (result) {
          case ToolResult.Needs(var question) -> questions.need(call, question, Purpose.NEED);
          case ToolResult.NeedsSignIn(var signIn) -> signIn(signIn, duration);
          case ToolResult.Done _, ToolResult.Failed _ ->
              Results.of(call, result, duration, retries);
        };
    write(event);
    run.reach("tool-completed");
  }

  /// Ends a call that does not stop. If the server is stopping, the call is left open, as after a
  /// crash.
  private void leaveBehind(PlatformThreads.LeftBehind stuck) throws InterruptedException {
    if (run.handedBack()) {
      throw new InterruptedException();
    }
    var outcome =
        tool.effect() == Tool.Effect.PURE
            ? ToolEvent.Outcome.INTERRUPTED
            : ToolEvent.Outcome.OUTCOME_UNKNOWN;
    write(Results.failed(call, String.valueOf(stuck.getMessage()), outcome));
  }

  private Event signIn(SignIn signIn, long duration) throws InterruptedException {
    try {
      return questions.signIn(call, signIn);
    } catch (Rejection.Invalid impossible) {
      var failed = new ToolResult.Failed(String.valueOf(impossible.getMessage()));
      return Results.of(call, failed, duration, retries);
    }
  }

  /// False if the call has ended already.
  private boolean open() {
    return run.inspect(
        state ->
            state
                .openTask(run.origin().taskId())
                .filter(task -> task.openCalls().containsKey(call.id()))
                .isPresent());
  }

  private void write(Event event) {
    run.emit(
        state -> {
          var task = state.openTask(run.origin().taskId());
          var open = task.isPresent() && task.get().openCalls().containsKey(call.id());
          return open ? List.of(event) : List.of();
        });
  }

  private ToolResult call() throws InterruptedException {
    try {
      return threads.call(
          tool.name(),
          "tool-" + tool.name() + "-" + call.id(),
          place -> tool.call(arguments, context.at(place)));
    } catch (PlatformThreads.LeftBehind stuck) {
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
