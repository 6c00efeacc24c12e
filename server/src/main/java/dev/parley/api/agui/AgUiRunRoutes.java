package dev.parley.api.agui;

import dev.parley.api.ApiDependencies;
import dev.parley.http.Reply;
import dev.parley.http.Request;
import dev.parley.http.ResponseDescription;
import dev.parley.http.Route;
import dev.parley.identity.Action;
import dev.parley.identity.Caller;
import dev.parley.log.AppendGuard;
import dev.parley.log.AppendResult;
import dev.parley.log.EventDraft;
import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.ContextEvent.ContextCreated;
import dev.parley.protocol.ContextEvent.StateUpdated;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Json;
import dev.parley.protocol.MessageEvent.Message;
import dev.parley.protocol.MessageEvent.Role;
import dev.parley.protocol.MessageFacts;
import dev.parley.protocol.MessageId;
import dev.parley.protocol.MessageView;
import dev.parley.protocol.Position;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.TaskFacts;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.WireName;
import dev.parley.task.Answerer;
import dev.parley.task.Rewinder;
import dev.parley.task.Submission;
import dev.parley.task.TaskResumption;
import dev.parley.task.WhenBusy;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// `POST /ag-ui/{agentTypeId}`: runs an agent and streams the run's events.
final class AgUiRunRoutes {

  private static final int MESSAGES_MAX = 1_000;
  private static final int PAGE = 100;
  private static final int ATTEMPTS_MAX = 10;
  private static final int APPLICATION_CONTEXT_MAX = 100_000;

  private final ApiDependencies parts;
  private final ThreadReader threadReader;
  private final Rewinder rewinder;

  AgUiRunRoutes(ApiDependencies parts, ThreadReader threadReader) {
    this.parts = parts;
    this.threadReader = threadReader;
    this.rewinder = new Rewinder(parts.log(), parts.views());
  }

  List<Route> routes() {
    return List.of(
        Route.withBody(
            Route.Method.POST,
            "/ag-ui/{agentTypeId}",
            new Route.RouteDescription(
                "Runs an agent with an AG-UI RunAgentInput and streams the run",
                List.of(),
                RunAgentInput.class,
                ResponseDescription.stream()),
            this::run));
  }

  /// The request body in the OpenAPI description. [RunInput] parses it.
  record RunAgentInput(
      String threadId,
      String runId,
      @Nullable String protocolVersion,
      @Nullable String parentRunId,
      List<ObjectNode> messages,
      @Nullable List<ObjectNode> tools,
      @Nullable List<ObjectNode> context,
      @Nullable ObjectNode state,
      @Nullable JsonNode forwardedProps,
      @Nullable List<ObjectNode> resume) {}

  /// A request for a run.
  private record RunRequest(
      ContextId thread,
      Caller caller,
      AgentTypeId agent,
      RunInput input,
      AppendGuard guard,
      Supplier<Answerer> answerer) {

    String principal() {
      return caller.principal();
    }
  }

  private Reply run(Request request) {
    var agent = agent(parts, request);
    parts.access().checkAgent(request.caller(), agent);
    var input = RunInput.read(request.body(ObjectNode.class));
    var guard =
        new AppendGuard.IdempotencyKey(
            request.principal(), "ag-ui/" + input.runId(), request.bodyHash());
    var runRequest =
        new RunRequest(
            new ContextId(input.threadId()),
            request.caller(),
            agent,
            input,
            guard,
            () -> parts.approvals().person(request));
    var task = exists(runRequest) ? continueThread(runRequest) : createThread(runRequest);
    return threadReader.run(
        runRequest.thread(),
        task,
        new AgUiStream.AgUiStreamRange.SingleRun(input.runId(), input.version()));
  }

  /// The agent that a path names.
  ///
  /// @throws Rejection.NotFound if there is none
  static AgentTypeId agent(ApiDependencies parts, Request request) {
    var id = new AgentTypeId(request.path("agentTypeId"));
    if (parts.agentTypes().stream().noneMatch(type -> type.id().equals(id))) {
      throw new Rejection.NotFound("no such agent type: " + id);
    }
    return id;
  }

  private boolean exists(RunRequest runRequest) {
    return parts.access().mayUse(runRequest.caller(), Action.WRITE, runRequest.thread());
  }

  private TaskId createThread(RunRequest runRequest) {
    if (!runRequest.input().resume().isEmpty()) {
      throw ResumeAnswers.notOpen(runRequest.input().resume().getFirst().interruptId());
    }
    var newMessages = NewMessages.compare(runRequest.input().messages(), List.of(), _ -> true);
    var next = Optional.ofNullable(newMessages.next()).orElseThrow(AgUiRunRoutes::nothingNew);
    var submission = submission(runRequest, next);
    parts.tasks().check(submission);
    parts
        .access()
        .create(
            runRequest.caller(),
            runRequest.thread(),
            new ContextCreated(runRequest.principal(), null, null));
    return submit(runRequest, newMessages, submission);
  }

  private TaskId continueThread(RunRequest runRequest) {
    var thread = runRequest.thread();
    var same = findSameRun(runRequest);
    if (same.isPresent()) {
      return same.get();
    }
    var latest = parts.views().latestMessages(thread, MESSAGES_MAX);
    var newMessages =
        NewMessages.compare(
            runRequest.input().messages(), latest, said -> isFromAgUi(runRequest, said));
    var next = newMessages.next();
    for (var attempt = 1; ; attempt++) {
      var openRun = threadReader.open(thread).orElse(null);
      var rests = openRun != null && openRun.run().phase == AgUiRunState.RunPhase.PAUSED;
      if (next != null && !rests && runRequest.input().resume().isEmpty()) {
        return submit(runRequest, newMessages, submission(runRequest, next));
      }
      try {
        return resume(runRequest, openRun, newMessages.whileWaiting());
      } catch (Rejection.Stale movedOn) {
        if (attempt == ATTEMPTS_MAX) {
          throw movedOn;
        }
      }
    }
  }

  /// The task that has this run already, if the same input was sent before.
  ///
  /// @throws Rejection.Conflict `run-id-reused` if the run was started with another input
  private Optional<TaskId> findSameRun(RunRequest runRequest) {
    try {
      var then =
          parts
              .log()
              .append(
                  runRequest.thread(),
                  runRequest.guard(),
                  _ -> {
                    throw new Rejection.NotFound("this run is new");
                  });
      return Optional.of(root(runRequest.thread(), then));
    } catch (Rejection.NotFound isNew) {
      return Optional.empty();
    } catch (Rejection.Conflict reused) {
      throw new Rejection.Conflict(
          "run-id-reused",
          "the run "
              + runRequest.input().runId()
              + " was started with another input; a new run needs a new runId");
    }
  }

  /// True if the message came through this API: it belongs to a run.
  private boolean isFromAgUi(RunRequest runRequest, MessageView message) {
    return message.facts().runId().isPresent()
        || message.facts().taskId().filter(task -> hasRunId(runRequest, task)).isPresent();
  }

  private boolean hasRunId(RunRequest runRequest, TaskId task) {
    return parts
        .views()
        .task(runRequest.thread(), task)
        .flatMap(view -> view.facts().runId())
        .isPresent();
  }

  /// Passes the client's answers to the paused task. The checks are made inside the append, so that
  /// a repeated request returns the result of the first one.
  private TaskId resume(
      RunRequest runRequest,
      ThreadReader.@Nullable OpenThreadRun openRun,
      NewMessages newMessages) {
    List<TaskResumption.GivenAnswer> given = List.of();
    Rejection verdict = null;
    try {
      given = given(runRequest, openRun, newMessages);
    } catch (Rejection.Conflict | Rejection.Invalid refused) {
      verdict = refused;
    }
    var refusal = verdict;
    if (refusal == null && saveState(runRequest)) {
      throw new Rejection.Stale("the state has changed");
    }
    var seen = openRun == null ? Position.START : openRun.head();
    var next = refusal == null ? newMessages.next() : null;
    var appendResult =
        parts
            .tasks()
            .resume(
                new TaskResumption(
                    runRequest.thread(),
                    runRequest.answerer().get(),
                    given,
                    next == null ? null : submission(runRequest, next),
                    runRequest.guard()),
                state -> {
                  if (refusal != null) {
                    throw refusal;
                  }
                  if (!state.head().equals(seen)) {
                    throw new Rejection.Stale("the thread has moved on");
                  }
                });
    return root(runRequest.thread(), appendResult);
  }

  private static List<TaskResumption.GivenAnswer> given(
      RunRequest runRequest,
      ThreadReader.@Nullable OpenThreadRun openRun,
      NewMessages newMessages) {
    var input = runRequest.input();
    if (openRun == null || openRun.run().phase != AgUiRunState.RunPhase.PAUSED) {
      if (!input.resume().isEmpty()) {
        throw openRun == null
            ? ResumeAnswers.notOpen(input.resume().getFirst().interruptId())
            : new Rejection.Conflict("run-not-ended", "the run that asks has not ended yet");
      }
      throw nothingNew();
    }
    var given =
        new ResumeAnswers(input, openRun.run().tree.openQuestions())
            .answers(newMessages.next() != null);
    if (newMessages.rewind() != null) {
      throw new Rejection.Conflict(
          "busy", "a run of this thread is waiting; end it before you change earlier messages");
    }
    if (given.isEmpty() && newMessages.next() == null) {
      throw nothingNew();
    }
    return given;
  }

  /// The root task that an append started or answered.
  private TaskId root(ContextId thread, AppendResult appendResult) {
    var position = new Position(appendResult.first().seq() - 1, Integer.MAX_VALUE);
    TaskId answered = null;
    while (appendResult.last().after(position)) {
      for (var entry : parts.log().read(thread, position, PAGE)) {
        position = entry.position();
        if (position.after(appendResult.last())) {
          break;
        }
        if (entry.event() instanceof Message message && message.facts().taskId().isPresent()) {
          return message.facts().taskId().get();
        }
        if (answered == null && entry.origin() != null) {
          answered = entry.origin().rootTaskId();
        }
      }
    }
    if (answered == null) {
      throw new IllegalStateException(
          "the append " + appendResult + " to " + thread + " has no task");
    }
    return answered;
  }

  private TaskId submit(RunRequest runRequest, NewMessages newMessages, Submission submission) {
    saveState(runRequest);
    if (newMessages.rewind() != null) {
      var target = new Rewinder.RewindDestination.BeforeMessage(newMessages.rewind());
      return parts
          .tasks()
          .submit(
              submission,
              () -> rewinder.plan(runRequest.thread(), target),
              earlierMessages(runRequest, newMessages.before()))
          .taskId();
    }
    var kept = earlierMessages(runRequest, newMessages.before());
    if (!kept.isEmpty()) {
      parts.log().append(runRequest.thread(), AppendGuard.none(), _ -> kept);
    }
    return parts.tasks().submit(submission).taskId();
  }

  /// Stores the client's changes of the state. Returns false if there are none.
  private boolean saveState(RunRequest runRequest) {
    var ours = parts.views().state(runRequest.thread());
    var changed = Json.object();
    runRequest
        .input()
        .state()
        .properties()
        .forEach(
            key -> {
              if (!key.getValue().isNull() && !key.getValue().equals(ours.get(key.getKey()))) {
                changed.set(key.getKey(), key.getValue());
              }
            });
    if (!changed.isEmpty()) {
      parts
          .log()
          .append(
              runRequest.thread(),
              AppendGuard.none(),
              _ -> List.of(EventDraft.of(new StateUpdated(changed, runRequest.principal()))));
    }
    return !changed.isEmpty();
  }

  /// Drafts for the client's earlier messages.
  private List<EventDraft> earlierMessages(
      RunRequest runRequest, List<RunInput.InputMessage> before) {
    var drafts = new ArrayList<EventDraft>();
    for (var message : before) {
      var text = message.hasRole("user") || message.hasRole("assistant") ? message.text() : "";
      if (!text.isBlank()) {
        var id = message.hasRole("user") ? message.id() : parts.ids().get().toString();
        var role = message.hasRole("user") ? Role.USER : Role.ASSISTANT;
        var about = MessageFacts.ofRun(runRequest.input().runId());
        drafts.add(
            EventDraft.of(
                new Message(new MessageId(id), role, text, null, about, runRequest.principal())));
      }
    }
    return drafts;
  }

  private static Submission submission(RunRequest runRequest, RunInput.InputMessage next) {
    var input = runRequest.input();
    var metadata = Json.object();
    TaskFacts.putRun(metadata, input.runId(), input.parentRunId());
    var grounding = applicationContext(input);
    if (!grounding.isEmpty()) {
      TaskFacts.putGrounding(metadata, grounding);
    }
    var kept = ContentParts.storedParts(next.content());
    return new Submission(
        runRequest.thread(),
        runRequest.caller(),
        next.text(),
        kept.isEmpty() ? null : kept,
        new Submission.TaskOptions(
            runRequest.agent(),
            null,
            null,
            null,
            null,
            null,
            whenBusy(input),
            input.tools(),
            metadata),
        runRequest.guard(),
        new Submission.MessageLabel(new MessageId(next.id()), null));
  }

  private static WhenBusy whenBusy(RunInput input) {
    var wish = input.forwardedProps().path("whenBusy").asString("");
    if (wish.isEmpty()) {
      return WhenBusy.ENQUEUE;
    }
    var whenBusy = WireName.parse(WhenBusy.class, "forwardedProps.whenBusy", wish);
    if (whenBusy == WhenBusy.STEER) {
      throw new Rejection.Invalid(
          "forwardedProps.whenBusy cannot be steer: each request starts its own run");
    }
    return whenBusy;
  }

  /// The application context for the model: instructions, context and state.
  private static List<ObjectNode> applicationContext(RunInput input) {
    var all = new ArrayList<ObjectNode>();
    input.messages().stream()
        .filter(message -> message.hasRole("system") || message.hasRole("developer"))
        .forEach(message -> all.add(entry("Instructions", message.text())));
    all.addAll(input.context());
    if (!input.state().isEmpty()) {
      all.add(entry("The state that we share", input.state().toString()));
    }
    var length = all.stream().mapToInt(entry -> entry.toString().length()).sum();
    if (length > APPLICATION_CONTEXT_MAX) {
      throw new Rejection.TooLarge(
          "content-too-long",
          "instructions, context and state have at most "
              + APPLICATION_CONTEXT_MAX
              + " characters");
    }
    return all;
  }

  private static ObjectNode entry(String description, String value) {
    return Json.object().put("description", description).put("value", value);
  }

  private static Rejection nothingNew() {
    return new Rejection.Invalid(
        "nothing-new",
        "messages has nothing new for this thread: the last one must be a new message of"
            + " the user, or the result of a tool call that waits for it");
  }
}
