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

/// Takes the answers to what tasks ask, once each, and lets questions lapse that nobody answers in time.
final class Inputs {

  private static final int SHOWN = 200;

  /// What a timer is known by: ids are unique in their context only.
  private record Key(ContextId context, Id asked) {}

  /// What answers are taken with.
  record Parts(EventLog log, History history, Sources sources, Timers timers) {}

  private final Parts parts;
  private final EventLog log;
  private final Sources sources;
  private final Timers timers;
  private final Reactions reactions;

  /// The timers that are set, by context.
  private final ConcurrentHashMap<ContextId, Set<Id>> watched = new ConcurrentHashMap<>();

  private final AnswerCheck check = new AnswerCheck();
  private final AnswerTime time;

  /// Tasks got something that they may have waited for.
  record Moved(ContextId context, List<TaskId> tasks) {}

  /// Ends a task without success.
  interface Failing {
    void fail(ContextId context, TaskId task, Ending ending);
  }

  /// What is done when a question is closed: `usual` holds for those that do not say what becomes of their task.
  record Reactions(WhenLapsed usual, Consumer<Moved> moved, Failing failing) {}

  /// What is asked, by a task, for a person to read.
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
  /// @throws Rejection.Conflict `not-wanted` if one was answered or has lapsed
  /// @throws Rejection.Invalid if an answer does not fit; the questions stay open
  Appended answer(ContextId context, Map<InputId, JsonNode> answers, Answering by) {
    var tasks = new LinkedHashSet<TaskId>();
    var about = new HashMap<InputId, @Nullable ObjectNode>();
    var values = new LinkedHashMap<InputId, JsonNode>();
    answers.forEach(
        (input, value) -> {
          tasks.add(taskOf(context, input));
          about.put(input, time.with(by.metadata(), context, input));
          // Before the append, which must be quick: nobody vouches for a schema. What is asked
          // never
          // changes.
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

  /// Takes several answers at once, and after them what `more` says beside them, which may refuse all.
  ///
  /// @throws Rejection.Conflict `not-wanted` if one of them was answered or has lapsed
  /// @throws Rejection.Invalid if one of them does not fit
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

  /// The answer with the defaults of its form. Refuses an approval by a caller who may not approve, and an answer that
  /// does not fit.
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

  /// The tasks that may hear something: who waits on its thread is told.
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
      default -> throw new IllegalStateException("no answer is taken to " + given.asked());
    };
  }

  /// Who answers, the guard of the append that says so, and what is to be kept with it.
  record Answering(Answerer by, Guard guard, @Nullable ObjectNode metadata) {}

  private TaskId taskOf(ContextId context, InputId input) {
    return log.inspect(context, state -> state.openInput(input).map(open -> open.task()))
        .orElseGet(
            // Long ago perhaps: tells what was from what never was.
            () ->
                parts
                    .history()
                    .asker(context, input)
                    .orElseThrow(() -> new Rejection.NotFound("no such input: " + input)));
  }

  /// Says that a sign-in has happened; its secret is elsewhere.
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

  /// Watches the time of everything that the context's tasks ask for.
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

  /// Drops the timers of what is no longer asked for in the context, however that came about.
  void unwatch(ContextId context) {
    // Most contexts ask for nothing, and nothing is looked up for those.
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
      default -> throw new IllegalStateException("nobody asks for " + asked);
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
        // The end of the task says in the same append that what it asked for has lapsed.
        case FAIL ->
            reactions.failing().fail(context, open.task(), unanswered(open).unless(key.asked()));
      }
    } catch (Rejection.Conflict settled) {
      // By an answer, or by an earlier try of this, of which nobody was told.
      reactions.moved().accept(new Moved(context, List.of()));
    } catch (Rejection.NotFound | Rejection.Gone deleted) {
      // Its context is gone.
    } catch (Rejection.Unavailable storeDown) {
      timers.set(key, Duration.ofSeconds(1), () -> lapse(key));
    }
  }

  /// Closes what tool calls asked while they ran: the server that asked has stopped.
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

  /// True if this is still asked for.
  static boolean asks(ContextState state, Id asked) {
    return open(state, asked).isPresent();
  }

  static Event lapsed(Id asked) {
    return switch (asked) {
      case InputId input -> new InputLapsed(input, "nobody answered in time");
      case AuthId auth -> new AuthLapsed(auth, "nobody signed in in time");
      default -> throw new IllegalStateException("nobody asks for " + asked);
    };
  }

  private static Ending unanswered(Open open) {
    var prompt = open.prompt();
    var shown = prompt.length() <= SHOWN ? prompt : prompt.substring(0, SHOWN) + "…";
    return Ending.failed(ErrorCode.TIMEOUT, "nobody answered in time: " + shown, true);
  }

  private static List<Draft> draft(ContextState state, TaskId task, Event event) {
    return List.of(new Draft(state.openTask(task).orElseThrow(Inputs::notWanted).origin(), event));
  }

  private static Rejection notWanted() {
    return new Rejection.Conflict("not-wanted", "this was answered, or is no longer asked for");
  }
}
