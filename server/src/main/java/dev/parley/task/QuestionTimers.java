package dev.parley.task;

import dev.parley.log.AppendGuard;
import dev.parley.log.ContextState;
import dev.parley.log.EventDraft;
import dev.parley.log.EventLog;
import dev.parley.log.OpenTask;
import dev.parley.protocol.AuthEvent.AuthLapsed;
import dev.parley.protocol.AuthId;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Event;
import dev.parley.protocol.Id;
import dev.parley.protocol.InputEvent.InputLapsed;
import dev.parley.protocol.InputId;
import dev.parley.protocol.QuestionFacts;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.ReportEvent.ErrorCode;
import dev.parley.protocol.TaskId;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiConsumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// Lets questions lapse that expire, or that were answered in a remote system. Thread-safe.
///
/// An agent that relays questions has a [check][Agent#remoteQuestionCheck], which is called at
/// intervals while its task waits; questions of other agents can only be answered here.
final class QuestionTimers {

  private static final System.Logger LOGGER = System.getLogger(QuestionTimers.class.getName());
  private static final int SHOWN = 200;
  private static final Duration RETRY_PAUSE = Duration.ofSeconds(1);
  private static final Duration FIRST_POLL = Duration.ofSeconds(1);
  private static final Duration POLL_MAX = Duration.ofMinutes(1);

  /// The key of an expiry timer: ids are unique only within their context.
  private record ExpiryKey(ContextId context, Id asked) {}

  /// The key of the timer of the next poll.
  private record PollKey(ContextId context, TaskId task) {}

  /// Called when a question is closed, and to end a task as failed.
  record QuestionListeners(
      BiConsumer<ContextId, List<TaskId>> onAnswered, TaskFailureHandler onFailed) {}

  /// Ends a task as failed.
  interface TaskFailureHandler {
    void fail(ContextId context, TaskId task, TaskEnding taskEnding);
  }

  /// An open question of a task.
  private record OpenQuestion(
      Id asked, TaskId task, String prompt, QuestionFacts facts, @Nullable Instant expiresAt) {}

  private final EventLog log;
  private final TaskSettings taskSettings;
  private final Timers timers;
  private final TaskSources taskSources;
  private final QuestionListeners listeners;

  /// The questions that have an expiry timer, by context.
  private final ConcurrentHashMap<ContextId, Set<Id>> watched = new ConcurrentHashMap<>();

  QuestionTimers(
      EventLog log,
      TaskSettings taskSettings,
      TaskSources taskSources,
      Timers timers,
      QuestionListeners listeners) {
    this.log = log;
    this.taskSettings = taskSettings;
    this.taskSources = taskSources;
    this.timers = timers;
    this.listeners = listeners;
  }

  /// Starts a timer for each open question of the context that expires, and polls for those that
  /// may be answered remotely.
  void start(ContextId context) {
    var open = log.inspect(context, state -> openQuestions(state).toList());
    var now = taskSources.time().instant();
    for (var question : open) {
      if (question.expiresAt() != null) {
        var key = new ExpiryKey(context, question.asked());
        timers.schedule(key, Duration.between(now, question.expiresAt()), () -> expire(key));
        watched.compute(
            context,
            (_, asked) -> {
              var more = asked == null ? ConcurrentHashMap.<Id>newKeySet() : asked;
              more.add(question.asked());
              return more;
            });
      }
    }
    open.stream()
        .map(OpenQuestion::task)
        .distinct()
        .map(task -> new PollKey(context, task))
        .filter(key -> remoteCheck(key).isPresent())
        .forEach(key -> schedulePoll(key, FIRST_POLL));
  }

  /// Stops the timers of questions in the context that are no longer open, for whatever reason.
  void stop(ContextId context) {
    // Most contexts have no open questions; for them nothing is read.
    for (var asked : watched.getOrDefault(context, Set.of())) {
      if (open(context, asked).isEmpty()) {
        stop(context, asked);
      }
    }
  }

  void stop(ContextId context, Id asked) {
    timers.cancel(new ExpiryKey(context, asked));
    watched.computeIfPresent(
        context,
        (_, others) -> {
          others.remove(asked);
          return others.isEmpty() ? null : others;
        });
  }

  private void expire(ExpiryKey key) {
    var context = key.context();
    try {
      var question = open(context, key.asked()).orElseThrow(QuestionTimers::notWanted);
      switch (WhenLapsed.of(question.facts(), taskSettings.limits().whenInputLapses())) {
        case CONTINUE -> {
          log.append(
              context,
              AppendGuard.none(),
              state -> {
                var task = open(state, key.asked()).orElseThrow(QuestionTimers::notWanted).task();
                return List.of(draft(state, task, lapsed(key.asked())));
              });
          listeners.onAnswered().accept(context, List.of(question.task()));
        }
        // The append that ends the task also lets the question lapse.
        case FAIL ->
            listeners
                .onFailed()
                .fail(context, question.task(), unanswered(question).unlessAnswered(key.asked()));
      }
    } catch (Rejection.Conflict settled) {
      // Closed by an answer, or by an earlier attempt whose listeners were not called.
      listeners.onAnswered().accept(context, List.of());
    } catch (Rejection.NotFound | Rejection.Gone deleted) {
      // The context was deleted.
    } catch (Rejection.Unavailable storeDown) {
      timers.schedule(key, RETRY_PAUSE, () -> expire(key));
    }
  }

  private static TaskEnding unanswered(OpenQuestion question) {
    var prompt = question.prompt();
    var shown = prompt.length() <= SHOWN ? prompt : prompt.substring(0, SHOWN) + "…";
    return TaskEnding.failed(ErrorCode.TIMEOUT, "no answer arrived in time: " + shown, true);
  }

  private void schedulePoll(PollKey key, Duration pause) {
    timers.schedule(key, pause, () -> poll(key, pause));
  }

  private void poll(PollKey key, Duration pause) {
    try {
      var check = remoteCheck(key).orElse(null);
      // Read before the check: a question that is asked during the check is another one.
      var asked =
          log.inspect(
              key.context(),
              state ->
                  openQuestions(state)
                      .filter(question -> question.task().equals(key.task()))
                      .map(OpenQuestion::asked)
                      .toList());
      if (check == null || asked.isEmpty()) {
        return;
      }
      var reason = check.settledReason(key.context(), key.task());
      if (reason.isPresent()) {
        lapseSettled(key, asked, reason.get());
        return;
      }
    } catch (Rejection.NotFound | Rejection.Gone deleted) {
      return;
    } catch (Rejection.Unavailable storeDown) {
      // Try again later.
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
      return;
    } catch (RuntimeException failed) { // The root of a thread: the next check may succeed.
      LOGGER.log(
          System.Logger.Level.WARNING,
          "the questions of task " + key.task() + " could not be checked for remote answers",
          failed);
    }
    var longer = pause.multipliedBy(2);
    schedulePoll(key, longer.compareTo(POLL_MAX) > 0 ? POLL_MAX : longer);
  }

  /// The check of the task's agent. The agent is not called under the lock of the context.
  private Optional<Agent.RemoteQuestionCheck> remoteCheck(PollKey key) {
    return log.inspect(key.context(), state -> state.openTask(key.task()).map(OpenTask::origin))
        .flatMap(origin -> Optional.ofNullable(taskSettings.agents().byId().get(origin.agentId())))
        .flatMap(Agent::remoteQuestionCheck);
  }

  private void lapseSettled(PollKey key, List<Id> asked, String reason) {
    log.append(
        key.context(),
        AppendGuard.none(),
        state ->
            asked.stream()
                .flatMap(one -> open(state, one).stream())
                .map(question -> draft(state, question.task(), lapsed(question.asked(), reason)))
                .toList());
    listeners.onAnswered().accept(key.context(), List.of());
  }

  /// Lets the questions lapse that running tool calls asked: the process that asked has stopped.
  void lapseLive(ContextId context) {
    log.append(
        context,
        AppendGuard.none(),
        state ->
            openQuestions(state)
                .filter(question -> question.asked() instanceof InputId && question.facts().live())
                .map(
                    question ->
                        draft(
                            state, question.task(), lapsed(question.asked(), "the server stopped")))
                .toList());
  }

  private Optional<OpenQuestion> open(ContextId context, Id asked) {
    try {
      return log.inspect(context, state -> open(state, asked));
    } catch (Rejection.NotFound | Rejection.Gone deleted) {
      return Optional.empty();
    }
  }

  private static Optional<OpenQuestion> open(ContextState state, Id asked) {
    return openQuestions(state).filter(question -> question.asked().equals(asked)).findFirst();
  }

  private static Stream<OpenQuestion> openQuestions(ContextState state) {
    return Stream.concat(
        state.openInputs().stream()
            .map(
                open -> {
                  var input = open.required();
                  return new OpenQuestion(
                      input.inputId(),
                      open.task(),
                      input.prompt(),
                      input.facts(),
                      input.expiresAt());
                }),
        state.openAuths().stream()
            .map(
                open -> {
                  var auth = open.required();
                  return new OpenQuestion(
                      auth.authId(), open.task(), auth.prompt(), auth.facts(), auth.expiresAt());
                }));
  }

  /// The task that asked this question, while it is open.
  static Optional<TaskId> asker(ContextState state, Id asked) {
    return open(state, asked).map(OpenQuestion::task);
  }

  static boolean isOpen(ContextState state, Id asked) {
    return open(state, asked).isPresent();
  }

  static Event lapsed(Id asked) {
    return lapsed(
        asked,
        asked instanceof AuthId ? "no sign-in was completed in time" : "no answer arrived in time");
  }

  private static Event lapsed(Id asked, String reason) {
    return switch (asked) {
      case InputId input -> new InputLapsed(input, reason);
      case AuthId auth -> new AuthLapsed(auth, reason);
      default -> throw new IllegalStateException("not the id of a question: " + asked);
    };
  }

  /// The event with the origin of its task.
  static EventDraft draft(ContextState state, TaskId task, Event event) {
    return new EventDraft(
        state.openTask(task).orElseThrow(QuestionTimers::notWanted).origin(), event);
  }

  static Rejection notWanted() {
    return new Rejection.Conflict("not-wanted", "the question was already answered or has expired");
  }
}
