package dev.parley.door.agui;

import dev.parley.agent.Grounding;
import dev.parley.door.Answer;
import dev.parley.door.DoorParts;
import dev.parley.door.Reply;
import dev.parley.door.Request;
import dev.parley.door.Route;
import dev.parley.log.Appended;
import dev.parley.log.Draft;
import dev.parley.log.Guard;
import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.ContextEvent.ContextCreated;
import dev.parley.protocol.ContextEvent.StateUpdated;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Json;
import dev.parley.protocol.MessageEvent.Message;
import dev.parley.protocol.MessageEvent.Role;
import dev.parley.protocol.MessageId;
import dev.parley.protocol.Position;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.WireName;
import dev.parley.task.Answerer;
import dev.parley.task.Resumption;
import dev.parley.task.Rewinder;
import dev.parley.task.Submission;
import dev.parley.task.WhenBusy;
import dev.parley.view.MessageView;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// `POST /ag-ui/{agentTypeId}`: runs an agent and streams the run's events.
final class RunRoutes {

  private static final int MESSAGES = 1_000;
  private static final int PAGE = 100;
  private static final int ATTEMPTS_MAX = 10;
  private static final int GROUNDING_MAX = 100_000;

  private final DoorParts parts;
  private final Threads threads;
  private final Rewinder rewinder;

  RunRoutes(DoorParts parts, Threads threads) {
    this.parts = parts;
    this.threads = threads;
    this.rewinder = new Rewinder(parts.log(), parts.views());
  }

  List<Route> routes() {
    return List.of(
        Route.send(
            Route.Method.POST,
            "/ag-ui/{agentTypeId}",
            new Route.Description(
                "Runs an agent with an AG-UI RunAgentInput and streams the run",
                List.of(),
                RunAgentInput.class,
                Answer.stream()),
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
  private record Wanted(
      ContextId thread,
      String principal,
      AgentTypeId agent,
      RunInput input,
      Guard guard,
      Supplier<Answerer> answerer) {}

  private Reply run(Request request) {
    var agent = agent(parts, request);
    var input = RunInput.read(request.body(ObjectNode.class));
    var guard = new Guard.Once(request.principal(), "ag-ui/" + input.runId(), request.bodyHash());
    var wanted =
        new Wanted(
            new ContextId(input.threadId()),
            request.principal(),
            agent,
            input,
            guard,
            () -> parts.approvals().person(request));
    var task = exists(wanted) ? goOn(wanted) : begin(wanted);
    return threads.run(wanted.thread(), task, new Telling.Wish.Run(input.runId(), input.version()));
  }

  /// The agent that a path names.
  ///
  /// @throws Rejection.NotFound if there is none
  static AgentTypeId agent(DoorParts parts, Request request) {
    var id = new AgentTypeId(request.path("agentTypeId"));
    if (parts.agentTypes().stream().noneMatch(type -> type.id().equals(id))) {
      throw new Rejection.NotFound("no such agent type: " + id);
    }
    return id;
  }

  private boolean exists(Wanted wanted) {
    try {
      parts.access().check(wanted.principal(), wanted.thread());
      return true;
    } catch (Rejection.NotFound unknown) {
      return false;
    }
  }

  private TaskId begin(Wanted wanted) {
    if (!wanted.input().resume().isEmpty()) {
      throw Resumes.notOpen(wanted.input().resume().getFirst().interruptId());
    }
    var news = News.of(wanted.input().messages(), List.of(), _ -> true);
    var next = Optional.ofNullable(news.next()).orElseThrow(RunRoutes::nothingNew);
    var submission = submission(wanted, next);
    parts.tasks().check(submission);
    parts.log().create(wanted.thread(), new ContextCreated(wanted.principal(), null, null));
    parts.access().check(wanted.principal(), wanted.thread());
    return submit(wanted, news, submission);
  }

  private TaskId goOn(Wanted wanted) {
    var thread = wanted.thread();
    var same = sent(wanted);
    if (same.isPresent()) {
      return same.get();
    }
    var latest = parts.views().latestMessages(thread, MESSAGES);
    var news = News.of(wanted.input().messages(), latest, said -> here(wanted, said));
    var next = news.next();
    for (var attempt = 1; ; attempt++) {
      var open = threads.open(thread).orElse(null);
      var rests = open != null && open.turn().phase == Turn.Phase.RESTING;
      if (next != null && !rests && wanted.input().resume().isEmpty()) {
        return submit(wanted, news, submission(wanted, next));
      }
      try {
        return resume(wanted, open, news.whileWaiting());
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
  private Optional<TaskId> sent(Wanted wanted) {
    try {
      var then =
          parts
              .log()
              .append(
                  wanted.thread(),
                  wanted.guard(),
                  _ -> {
                    throw new Rejection.NotFound("this run is new");
                  });
      return Optional.of(root(wanted.thread(), then));
    } catch (Rejection.NotFound isNew) {
      return Optional.empty();
    } catch (Rejection.Conflict reused) {
      throw new Rejection.Conflict(
          "run-id-reused",
          "the run "
              + wanted.input().runId()
              + " was started with another input; a new run needs a new runId");
    }
  }

  /// True if the message came through this API: it belongs to a run.
  private boolean here(Wanted wanted, MessageView message) {
    var metadata = message.metadata();
    var task = metadata == null ? "" : metadata.path("taskId").asString("");
    return Turn.runId(metadata) != null
        || (!task.isEmpty() && begun(wanted, new TaskId(task)) != null);
  }

  private @Nullable String begun(Wanted wanted, TaskId task) {
    return parts
        .views()
        .task(wanted.thread(), task)
        .map(view -> Turn.runId(view.metadata()))
        .orElse(null);
  }

  /// Passes the client's answers to the paused task. The checks are made inside the append, so that
  /// a repeated request returns the result of the first one.
  private TaskId resume(Wanted wanted, Threads.@Nullable Open open, News news) {
    List<Resumption.Given> given = List.of();
    Rejection verdict = null;
    try {
      given = given(wanted, open, news);
    } catch (Rejection.Conflict | Rejection.Invalid refused) {
      verdict = refused;
    }
    var refusal = verdict;
    if (refusal == null && share(wanted)) {
      throw new Rejection.Stale("the state has changed");
    }
    var seen = open == null ? Position.START : open.head();
    var next = refusal == null ? news.next() : null;
    var appended =
        parts
            .tasks()
            .resume(
                new Resumption(
                    wanted.thread(),
                    wanted.answerer().get(),
                    given,
                    next == null ? null : submission(wanted, next),
                    wanted.guard()),
                state -> {
                  if (refusal != null) {
                    throw refusal;
                  }
                  if (!state.head().equals(seen)) {
                    throw new Rejection.Stale("the thread has moved on");
                  }
                });
    return root(wanted.thread(), appended);
  }

  private static List<Resumption.Given> given(
      Wanted wanted, Threads.@Nullable Open open, News news) {
    var input = wanted.input();
    if (open == null || open.turn().phase != Turn.Phase.RESTING) {
      if (!input.resume().isEmpty()) {
        throw open == null
            ? Resumes.notOpen(input.resume().getFirst().interruptId())
            : new Rejection.Conflict("run-not-ended", "the run that asks has not ended yet");
      }
      throw nothingNew();
    }
    var given = new Resumes(input, open.turn().tree.asked()).given(news.next() != null);
    if (news.rewind() != null) {
      throw new Rejection.Conflict(
          "busy", "a run of this thread is waiting; end it before you change earlier messages");
    }
    if (given.isEmpty() && news.next() == null) {
      throw nothingNew();
    }
    return given;
  }

  /// The root task that an append started or answered.
  private TaskId root(ContextId thread, Appended appended) {
    var position = new Position(appended.first().seq() - 1, Integer.MAX_VALUE);
    TaskId answered = null;
    while (appended.last().after(position)) {
      for (var entry : parts.log().read(thread, position, PAGE)) {
        position = entry.position();
        if (position.after(appended.last())) {
          break;
        }
        if (entry.event() instanceof Message message
            && message.metadata() != null
            && message.metadata().has("taskId")) {
          return new TaskId(message.metadata().path("taskId").asString());
        }
        if (answered == null && entry.origin() != null) {
          answered = entry.origin().rootTaskId();
        }
      }
    }
    if (answered == null) {
      throw new IllegalStateException("the append " + appended + " to " + thread + " has no task");
    }
    return answered;
  }

  private TaskId submit(Wanted wanted, News news, Submission submission) {
    share(wanted);
    if (news.rewind() != null) {
      var target = new Rewinder.Target.BeforeMessage(news.rewind());
      return parts
          .tasks()
          .submit(
              submission, () -> rewinder.plan(wanted.thread(), target), kept(wanted, news.before()))
          .taskId();
    }
    var kept = kept(wanted, news.before());
    if (!kept.isEmpty()) {
      parts.log().append(wanted.thread(), Guard.none(), _ -> kept);
    }
    return parts.tasks().submit(submission).taskId();
  }

  /// Stores the client's changes of the state. Returns false if there are none.
  private boolean share(Wanted wanted) {
    var ours = parts.views().state(wanted.thread());
    var changed = Json.object();
    wanted
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
              wanted.thread(),
              Guard.none(),
              _ -> List.of(Draft.of(new StateUpdated(changed, wanted.principal()))));
    }
    return !changed.isEmpty();
  }

  /// Drafts for the client's earlier messages.
  private List<Draft> kept(Wanted wanted, List<RunInput.Said> before) {
    var drafts = new ArrayList<Draft>();
    for (var said : before) {
      var text = said.by("user") || said.by("assistant") ? said.text() : "";
      if (!text.isBlank()) {
        var id = said.by("user") ? said.id() : parts.ids().get().toString();
        var role = said.by("user") ? Role.USER : Role.ASSISTANT;
        var about = Json.object().put(Submission.RUN_ID, wanted.input().runId());
        drafts.add(
            Draft.of(new Message(new MessageId(id), role, text, null, about, wanted.principal())));
      }
    }
    return drafts;
  }

  private static Submission submission(Wanted wanted, RunInput.Said next) {
    var input = wanted.input();
    var metadata = Json.object().put(Submission.RUN_ID, input.runId());
    if (input.parentRunId() != null) {
      metadata.put("parentRunId", input.parentRunId());
    }
    var grounding = grounding(input);
    if (!grounding.isEmpty()) {
      grounding.forEach(metadata.putArray(Grounding.KEY)::add);
    }
    var kept = ContentParts.kept(next.content());
    return new Submission(
        wanted.thread(),
        wanted.principal(),
        next.text(),
        kept.isEmpty() ? null : kept,
        new Submission.Options(
            wanted.agent(), null, null, null, null, null, whenBusy(input), input.tools(), metadata),
        wanted.guard(),
        new Submission.Label(new MessageId(next.id()), null));
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
  private static List<ObjectNode> grounding(RunInput input) {
    var all = new ArrayList<ObjectNode>();
    input.messages().stream()
        .filter(said -> said.by("system") || said.by("developer"))
        .forEach(said -> all.add(entry("Instructions", said.text())));
    all.addAll(input.context());
    if (!input.state().isEmpty()) {
      all.add(entry("The state that we share", input.state().toString()));
    }
    var length = all.stream().mapToInt(entry -> entry.toString().length()).sum();
    if (length > GROUNDING_MAX) {
      throw new Rejection.TooLarge(
          "content-too-long",
          "instructions, context and state have at most " + GROUNDING_MAX + " characters");
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
