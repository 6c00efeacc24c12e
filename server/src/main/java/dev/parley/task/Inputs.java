package dev.parley.task;

import dev.parley.log.Appended;
import dev.parley.log.ContextState;
import dev.parley.log.Draft;
import dev.parley.log.EventLog;
import dev.parley.log.Guard;
import dev.parley.log.OpenTask;
import dev.parley.protocol.AuthEvent.AuthCompleted;
import dev.parley.protocol.AuthEvent.AuthLapsed;
import dev.parley.protocol.AuthId;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Event;
import dev.parley.protocol.Id;
import dev.parley.protocol.InputEvent;
import dev.parley.protocol.InputEvent.InputLapsed;
import dev.parley.protocol.InputEvent.InputReceived;
import dev.parley.protocol.InputEvent.InputType;
import dev.parley.protocol.InputId;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.ReportEvent.ErrorCode;
import dev.parley.protocol.TaskId;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// Accepts the answers to the questions of tasks, each once, and lets questions lapse when they
/// expire.
final class Inputs {

  private static final int SHOWN = 200;

  /// The key of a timer: ids are unique only within their context.
  private record Key(ContextId context, Id asked) {}

  /// The dependencies of this class.
  record Parts(EventLog log, History history, Sources sources, Timers timers) {}

  private final Parts parts;
  private final EventLog log;
  private final Sources sources;
  private final Timers timers;
  private final Reactions reactions;

  /// The questions that have a timer, by context.
  private final ConcurrentHashMap<ContextId, Set<Id>> watched = new ConcurrentHashMap<>();

  private final AnswerCheck check = new AnswerCheck();
  private final AnswerTime time;

  /// Tasks that may have received an answer.
  record Moved(ContextId context, List<TaskId> tasks) {}

  /// Ends a task as failed.
  interface Failing {
    void fail(ContextId context, TaskId task, Ending ending);
  }

  /// Called when a question is closed. `defaultWhenLapsed` applies to questions that do not specify
  /// what happens when they expire.
  record Reactions(WhenLapsed usual, Consumer<Moved> moved, Failing failing) {}

  /// An open question of a task.
  private record Open(TaskId task, String prompt, @Nullable ObjectNode metadata) {}

  Inputs(Parts parts, Reactions reactions) {
    this.parts = parts;
    this.log = parts.log();
    this.sources = parts.sources();
    this.timers = parts.timers();
    this.reactions = reactions;
    this.time = new AnswerTime(log, sources);
  }

  /// Answers questions, all or none.
  ///
  /// @throws Rejection.Conflict `not-wanted` if one of them was answered or has lapsed
  /// @throws Rejection.Invalid if an answer is not valid; the questions stay open
  Appended answer(ContextId context, Map<InputId, JsonNode> answers, Answering by) {
    var tasks = new LinkedHashSet<TaskId>();
    var about = new HashMap<InputId, @Nullable ObjectNode>();
    var values = new LinkedHashMap<InputId, JsonNode>();
    answers.forEach(
        (input, value) -> {
          tasks.add(taskOf(context, input));
          about.put(input, time.with(by.metadata(), context, input));
          // Validated before the append, which must be quick, as schemas are not trusted. A
          // question never changes, so the result stays valid.
          values.put(input, checked(context, input, value, by.by()));
        });
    var appended =
        log.append(
            context,
            by.guard(),
            state ->
                values.entrySet().stream()
                    .flatMap(
                        answer ->
                            received(
                                state,
                                answer.getKey(),
                                answer.getValue(),
                                new Answering(by.by(), by.guard(), about.get(answer.getKey()))))
                    .toList());
    values.keySet().forEach(input -> unwatch(new Key(context, input)));
    reactions.moved().accept(new Moved(context, List.copyOf(tasks)));
    return appended;
  }

  private static Stream<Draft> received(
      ContextState state, InputId input, JsonNode value, Answering by) {
    var open = state.openInput(input).orElseThrow(Inputs::notWanted);
    var received =
        new InputReceived(
            input, InputEvent.Provider.USER, by.by().principal(), null, by.metadata(), value);
    return draft(state, open.task(), received).stream();
  }

  /// Appends several answers at once, and after them the events of `more`, which may reject all.
  ///
  /// @throws Rejection.Conflict `not-wanted` if one of them was answered or has lapsed
  /// @throws Rejection.Invalid if one of them is not valid
  Appended resume(Resumption resumption, Function<ContextState, List<Draft>> more) {
    var context = resumption.context();
    var answers =
        resumption.answers().stream()
            .map(given -> checked(context, timed(context, given), resumption.by()))
            .toList();
    var appended =
        log.append(
            context,
            resumption.guard(),
            state -> {
              var said = more.apply(state);
              var drafts = new ArrayList<Draft>();
              answers.forEach(
                  given -> drafts.addAll(draft(state, given, resumption.by().principal())));
              drafts.addAll(said);
              return drafts;
            });
    answers.forEach(given -> unwatch(new Key(context, given.asked())));
    reactions.moved().accept(new Moved(context, started(context)));
    return appended;
  }

  private Resumption.Given timed(ContextId context, Resumption.Given given) {
    return given.asked() instanceof InputId input
        ? given.with(time.with(given.metadata(), context, input))
        : given;
  }

  private Resumption.Given checked(ContextId context, Resumption.Given given, Answerer by) {
    var value = given.value();
    return given.asked() instanceof InputId input && value != null
        ? new Resumption.Given(
            input, checked(context, input, value, by), given.metadata(), given.reason())
        : given;
  }

  /// The answer with the defaults of its form. Rejects an approval by a caller who may not approve,
  /// and an invalid answer.
  private JsonNode checked(ContextId context, InputId input, JsonNode value, Answerer by) {
    var open = log.inspect(context, state -> state.openInput(input));
    if (open.isEmpty()) {
      return value;
    }
    var asked = open.get().required();
    if (asked.inputType() == InputType.CONFIRMATION) {
      by.checkApproval();
    }
    var whole = AnswerCheck.withDefaults(asked, value);
    check.check(asked, whole);
    return whole;
  }

  private static List<Draft> draft(ContextState state, Resumption.Given given, String principal) {
    var task = open(state, given.asked()).orElseThrow(Inputs::notWanted).task();
    return draft(state, task, event(given, principal));
  }

  /// The started tasks of the context: those that wait on their threads are signaled.
  private List<TaskId> started(ContextId context) {
    return log.inspect(
        context,
        state ->
            state.openTasks().stream()
                .filter(OpenTask::started)
                .map(task -> task.origin().taskId())
                .toList());
  }

  private static Event event(Resumption.Given given, String principal) {
    var value = given.value();
    return switch (given.asked()) {
      case InputId input when value != null ->
          new InputReceived(
              input, InputEvent.Provider.USER, principal, null, given.metadata(), value);
      case InputId input -> new InputLapsed(input, given.reason(), principal);
      case AuthId auth when value == null -> new AuthLapsed(auth, given.reason(), principal);
      default -> throw new IllegalStateException("not the id of a question: " + given.asked());
    };
  }

  /// The caller, the guard of the append, and the metadata of the answer.
  record Answering(Answerer by, Guard guard, @Nullable ObjectNode metadata) {}

  private TaskId taskOf(ContextId context, InputId input) {
    return log.inspect(context, state -> state.openInput(input).map(open -> open.task()))
        .orElseGet(
            // The history distinguishes a closed question from one that never existed.
            () ->
                parts
                    .history()
                    .asker(context, input)
                    .orElseThrow(() -> new Rejection.NotFound("no such input: " + input)));
  }

  /// Appends that a sign-in was completed; the credentials are stored separately.
  Appended signedIn(ContextId context, AuthId auth, @Nullable ObjectNode metadata, Answering by) {
    by.by().checkApproval();
    var task =
        log.inspect(context, state -> state.openAuth(auth).map(open -> open.task()))
            .orElseGet(
                () ->
                    parts
                        .history()
                        .asker(context, auth)
                        .orElseThrow(() -> new Rejection.NotFound("no such sign-in: " + auth)));
    var appended =
        log.append(
            context,
            by.guard(),
            state -> {
              var open = state.openAuth(auth).orElseThrow(Inputs::notWanted);
              return draft(
                  state, open.task(), new AuthCompleted(auth, by.by().principal(), metadata));
            });
    unwatch(new Key(context, auth));
    reactions.moved().accept(new Moved(context, List.of(task)));
    return appended;
  }

  /// Starts a timer for each open question of the context that has an expiry time.
  void watch(ContextId context) {
    record Due(Id asked, Instant at) {}
    var due =
        log.inspect(
            context,
            state ->
                Stream.concat(
                        state.openInputs().stream()
                            .filter(open -> open.required().expiresAt() != null)
                            .map(
                                open ->
                                    new Due(
                                        open.required().inputId(), open.required().expiresAt())),
                        state.openAuths().stream()
                            .filter(open -> open.required().expiresAt() != null)
                            .map(
                                open ->
                                    new Due(open.required().authId(), open.required().expiresAt())))
                    .toList());
    var now = sources.clock().instant();
    for (var one : due) {
      var key = new Key(context, one.asked());
      timers.set(key, Duration.between(now, one.at()), () -> lapse(key));
      watched.compute(
          context,
          (_, asked) -> {
            var more = asked == null ? ConcurrentHashMap.<Id>newKeySet() : asked;
            more.add(one.asked());
            return more;
          });
    }
  }

  /// Stops the timers of questions in the context that are no longer open, for whatever reason.
  void unwatch(ContextId context) {
    // Most contexts have no open questions; for them nothing is read.
    for (var asked : watched.getOrDefault(context, Set.of())) {
      if (open(context, asked).isEmpty()) {
        unwatch(new Key(context, asked));
      }
    }
  }

  private void unwatch(Key key) {
    timers.clear(key);
    watched.computeIfPresent(
        key.context(),
        (_, asked) -> {
          asked.remove(key.asked());
          return asked.isEmpty() ? null : asked;
        });
  }

  private Optional<Open> open(ContextId context, Id asked) {
    try {
      return log.inspect(context, state -> open(state, asked));
    } catch (Rejection.NotFound | Rejection.Gone deleted) {
      return Optional.empty();
    }
  }

  private static Optional<Open> open(ContextState state, Id asked) {
    return switch (asked) {
      case InputId input ->
          state
              .openInput(input)
              .map(o -> new Open(o.task(), o.required().prompt(), o.required().metadata()));
      case AuthId auth ->
          state
              .openAuth(auth)
              .map(o -> new Open(o.task(), o.required().prompt(), o.required().metadata()));
      default -> throw new IllegalStateException("not the id of a question: " + asked);
    };
  }

  private void lapse(Key key) {
    var context = key.context();
    try {
      var open = open(context, key.asked()).orElseThrow(Inputs::notWanted);
      switch (WhenLapsed.of(open.metadata(), reactions.usual())) {
        case CONTINUE -> {
          log.append(
              context,
              Guard.none(),
              state -> {
                var task = open(state, key.asked()).orElseThrow(Inputs::notWanted).task();
                return draft(state, task, lapsed(key.asked()));
              });
          reactions.moved().accept(new Moved(context, List.of(open.task())));
        }
        // The append that ends the task also lets the question lapse.
        case FAIL ->
            reactions.failing().fail(context, open.task(), unanswered(open).unless(key.asked()));
      }
    } catch (Rejection.Conflict settled) {
      // Closed by an answer, or by an earlier attempt whose listeners were not called.
      reactions.moved().accept(new Moved(context, List.of()));
    } catch (Rejection.NotFound | Rejection.Gone deleted) {
      // The context was deleted.
    } catch (Rejection.Unavailable storeDown) {
      timers.set(key, Duration.ofSeconds(1), () -> lapse(key));
    }
  }

  /// Lets the questions lapse that running tool calls asked: the process that asked has stopped.
  void lapseLive(ContextId context) {
    log.append(
        context,
        Guard.none(),
        state ->
            state.openInputs().stream()
                .filter(open -> Asked.isLive(open.required()))
                .flatMap(
                    open ->
                        draft(
                            state,
                            open.task(),
                            new InputLapsed(open.required().inputId(), "the server stopped"))
                            .stream())
                .toList());
  }

  /// True if the question is open.
  static boolean asks(ContextState state, Id asked) {
    return open(state, asked).isPresent();
  }

  static Event lapsed(Id asked) {
    return switch (asked) {
      case InputId input -> new InputLapsed(input, "no answer arrived in time");
      case AuthId auth -> new AuthLapsed(auth, "no sign-in was completed in time");
      default -> throw new IllegalStateException("not the id of a question: " + asked);
    };
  }

  private static Ending unanswered(Open open) {
    var prompt = open.prompt();
    var shown = prompt.length() <= SHOWN ? prompt : prompt.substring(0, SHOWN) + "…";
    return Ending.failed(ErrorCode.TIMEOUT, "no answer arrived in time: " + shown, true);
  }

  private static List<Draft> draft(ContextState state, TaskId task, Event event) {
    return List.of(new Draft(state.openTask(task).orElseThrow(Inputs::notWanted).origin(), event));
  }

  private static Rejection notWanted() {
    return new Rejection.Conflict("not-wanted", "the question was already answered or has expired");
  }
}
