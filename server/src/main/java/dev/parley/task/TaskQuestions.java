package dev.parley.task;

import dev.parley.log.AppendGuard;
import dev.parley.log.AppendResult;
import dev.parley.log.ContextState;
import dev.parley.log.EventDraft;
import dev.parley.log.EventLog;
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
import dev.parley.protocol.QuestionFacts;
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
final class TaskQuestions {

  private static final int SHOWN = 200;

  /// The key of a timer: ids are unique only within their context.
  private record QuestionTimerKey(ContextId context, Id asked) {}

  /// The dependencies of this class.
  record TaskQuestionsDependencies(
      EventLog log, ContextHistory history, ClockAndIds sources, Timers timers) {}

  private final TaskQuestionsDependencies dependencies;
  private final EventLog log;
  private final ClockAndIds clockAndIds;
  private final Timers timers;
  private final QuestionListeners listeners;

  /// The questions that have a timer, by context.
  private final ConcurrentHashMap<ContextId, Set<Id>> watched = new ConcurrentHashMap<>();

  private final AnswerValidator validator = new AnswerValidator();
  private final AnswerDuration answerDuration;

  /// Tasks that may have received an answer.
  record AnsweredTasks(ContextId context, List<TaskId> tasks) {}

  /// Ends a task as failed.
  interface TaskFailureHandler {
    void fail(ContextId context, TaskId task, TaskEnding taskEnding);
  }

  /// Called when a question is closed. `defaultWhenLapsed` applies to questions that do not specify
  /// what happens when they expire.
  record QuestionListeners(
      WhenLapsed defaultWhenLapsed,
      Consumer<AnsweredTasks> onAnswered,
      TaskFailureHandler onFailed) {}

  /// An open question of a task.
  private record OpenQuestion(TaskId task, String prompt, QuestionFacts facts) {}

  TaskQuestions(
      TaskQuestionsDependencies taskQuestionsDependencies, QuestionListeners questionListeners) {
    this.dependencies = taskQuestionsDependencies;
    this.log = taskQuestionsDependencies.log();
    this.clockAndIds = taskQuestionsDependencies.sources();
    this.timers = taskQuestionsDependencies.timers();
    this.listeners = questionListeners;
    this.answerDuration = new AnswerDuration(log, clockAndIds);
  }

  /// Answers questions, all or none.
  ///
  /// @throws Rejection.Conflict `not-wanted` if one of them was answered or has lapsed
  /// @throws Rejection.Invalid if an answer is not valid; the questions stay open
  AppendResult answer(ContextId context, Map<InputId, JsonNode> answers, AnswerDetails by) {
    var tasks = new LinkedHashSet<TaskId>();
    var about = new HashMap<InputId, @Nullable ObjectNode>();
    var values = new LinkedHashMap<InputId, JsonNode>();
    answers.forEach(
        (input, value) -> {
          tasks.add(taskOf(context, input));
          about.put(input, answerDuration.withDuration(by.metadata(), context, input));
          // Validated before the append, which must be quick, as schemas are not trusted. A
          // question never changes, so the result stays valid.
          values.put(input, checked(context, input, value, by.by()));
        });
    var appendResult =
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
                                new AnswerDetails(by.by(), by.guard(), about.get(answer.getKey()))))
                    .toList());
    values.keySet().forEach(input -> stopTimers(new QuestionTimerKey(context, input)));
    listeners.onAnswered().accept(new AnsweredTasks(context, List.copyOf(tasks)));
    return appendResult;
  }

  private static Stream<EventDraft> received(
      ContextState state, InputId input, JsonNode value, AnswerDetails by) {
    var open = state.openInput(input).orElseThrow(TaskQuestions::notWanted);
    var received =
        new InputReceived(
            input, InputEvent.Provider.USER, by.by().principal(), null, by.metadata(), value);
    return draft(state, open.task(), received).stream();
  }

  /// Appends several answers at once, and after them the events of `more`, which may reject all.
  ///
  /// @throws Rejection.Conflict `not-wanted` if one of them was answered or has lapsed
  /// @throws Rejection.Invalid if one of them is not valid
  AppendResult resume(
      TaskResumption taskResumption, Function<ContextState, List<EventDraft>> more) {
    var context = taskResumption.context();
    var answers =
        taskResumption.answers().stream()
            .map(
                givenAnswer ->
                    checked(context, withDuration(context, givenAnswer), taskResumption.by()))
            .toList();
    var appendResult =
        log.append(
            context,
            taskResumption.guard(),
            state -> {
              var said = more.apply(state);
              var drafts = new ArrayList<EventDraft>();
              answers.forEach(
                  givenAnswer ->
                      drafts.addAll(draft(state, givenAnswer, taskResumption.by().principal())));
              drafts.addAll(said);
              return drafts;
            });
    answers.forEach(
        givenAnswer -> stopTimers(new QuestionTimerKey(context, givenAnswer.questionId())));
    listeners.onAnswered().accept(new AnsweredTasks(context, started(context)));
    return appendResult;
  }

  private TaskResumption.GivenAnswer withDuration(
      ContextId context, TaskResumption.GivenAnswer givenAnswer) {
    return givenAnswer.questionId() instanceof InputId input
        ? givenAnswer.with(answerDuration.withDuration(givenAnswer.metadata(), context, input))
        : givenAnswer;
  }

  private TaskResumption.GivenAnswer checked(
      ContextId context, TaskResumption.GivenAnswer givenAnswer, Answerer by) {
    var value = givenAnswer.value();
    return givenAnswer.questionId() instanceof InputId input && value != null
        ? new TaskResumption.GivenAnswer(
            input, checked(context, input, value, by), givenAnswer.metadata(), givenAnswer.reason())
        : givenAnswer;
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
    var whole = AnswerValidator.withDefaults(asked, value);
    validator.check(asked, whole);
    return whole;
  }

  private static List<EventDraft> draft(
      ContextState state, TaskResumption.GivenAnswer givenAnswer, String principal) {
    var task = open(state, givenAnswer.questionId()).orElseThrow(TaskQuestions::notWanted).task();
    return draft(state, task, event(givenAnswer, principal));
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

  private static Event event(TaskResumption.GivenAnswer givenAnswer, String principal) {
    var value = givenAnswer.value();
    return switch (givenAnswer.questionId()) {
      case InputId input when value != null ->
          new InputReceived(
              input, InputEvent.Provider.USER, principal, null, givenAnswer.metadata(), value);
      case InputId input -> new InputLapsed(input, givenAnswer.reason(), principal);
      case AuthId auth when value == null -> new AuthLapsed(auth, givenAnswer.reason(), principal);
      default ->
          throw new IllegalStateException("not the id of a question: " + givenAnswer.questionId());
    };
  }

  /// The caller, the guard of the append, and the metadata of the answer.
  record AnswerDetails(Answerer by, AppendGuard guard, @Nullable ObjectNode metadata) {}

  private TaskId taskOf(ContextId context, InputId input) {
    return log.inspect(context, state -> state.openInput(input).map(open -> open.task()))
        .orElseGet(
            // The history distinguishes a closed question from one that never existed.
            () ->
                dependencies
                    .history()
                    .askingTask(context, input)
                    .orElseThrow(() -> new Rejection.NotFound("no such input: " + input)));
  }

  /// Appends that a sign-in was completed; the credentials are stored separately.
  AppendResult completeSignIn(
      ContextId context, AuthId auth, @Nullable ObjectNode metadata, AnswerDetails by) {
    by.by().checkApproval();
    var task =
        log.inspect(context, state -> state.openAuth(auth).map(open -> open.task()))
            .orElseGet(
                () ->
                    dependencies
                        .history()
                        .askingTask(context, auth)
                        .orElseThrow(() -> new Rejection.NotFound("no such sign-in: " + auth)));
    var appendResult =
        log.append(
            context,
            by.guard(),
            state -> {
              var open = state.openAuth(auth).orElseThrow(TaskQuestions::notWanted);
              return draft(
                  state, open.task(), new AuthCompleted(auth, by.by().principal(), metadata));
            });
    stopTimers(new QuestionTimerKey(context, auth));
    listeners.onAnswered().accept(new AnsweredTasks(context, List.of(task)));
    return appendResult;
  }

  /// Starts a timer for each open question of the context that has an expiry time.
  void startTimers(ContextId context) {
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
    var now = clockAndIds.clock().instant();
    for (var one : due) {
      var questionTimerKey = new QuestionTimerKey(context, one.asked());
      timers.schedule(
          questionTimerKey, Duration.between(now, one.at()), () -> lapse(questionTimerKey));
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
  void stopTimers(ContextId context) {
    // Most contexts have no open questions; for them nothing is read.
    for (var asked : watched.getOrDefault(context, Set.of())) {
      if (open(context, asked).isEmpty()) {
        stopTimers(new QuestionTimerKey(context, asked));
      }
    }
  }

  private void stopTimers(QuestionTimerKey questionTimerKey) {
    timers.cancel(questionTimerKey);
    watched.computeIfPresent(
        questionTimerKey.context(),
        (_, asked) -> {
          asked.remove(questionTimerKey.asked());
          return asked.isEmpty() ? null : asked;
        });
  }

  private Optional<OpenQuestion> open(ContextId context, Id asked) {
    try {
      return log.inspect(context, state -> open(state, asked));
    } catch (Rejection.NotFound | Rejection.Gone deleted) {
      return Optional.empty();
    }
  }

  private static Optional<OpenQuestion> open(ContextState state, Id asked) {
    return switch (asked) {
      case InputId input ->
          state
              .openInput(input)
              .map(o -> new OpenQuestion(o.task(), o.required().prompt(), o.required().facts()));
      case AuthId auth ->
          state
              .openAuth(auth)
              .map(o -> new OpenQuestion(o.task(), o.required().prompt(), o.required().facts()));
      default -> throw new IllegalStateException("not the id of a question: " + asked);
    };
  }

  private void lapse(QuestionTimerKey questionTimerKey) {
    var context = questionTimerKey.context();
    try {
      var openQuestion =
          open(context, questionTimerKey.asked()).orElseThrow(TaskQuestions::notWanted);
      switch (WhenLapsed.of(openQuestion.facts(), listeners.defaultWhenLapsed())) {
        case CONTINUE -> {
          log.append(
              context,
              AppendGuard.none(),
              state -> {
                var task =
                    open(state, questionTimerKey.asked())
                        .orElseThrow(TaskQuestions::notWanted)
                        .task();
                return draft(state, task, lapsed(questionTimerKey.asked()));
              });
          listeners.onAnswered().accept(new AnsweredTasks(context, List.of(openQuestion.task())));
        }
        // The append that ends the task also lets the question lapse.
        case FAIL ->
            listeners
                .onFailed()
                .fail(
                    context,
                    openQuestion.task(),
                    unanswered(openQuestion).unlessAnswered(questionTimerKey.asked()));
      }
    } catch (Rejection.Conflict settled) {
      // Closed by an answer, or by an earlier attempt whose listeners were not called.
      listeners.onAnswered().accept(new AnsweredTasks(context, List.of()));
    } catch (Rejection.NotFound | Rejection.Gone deleted) {
      // The context was deleted.
    } catch (Rejection.Unavailable storeDown) {
      timers.schedule(questionTimerKey, Duration.ofSeconds(1), () -> lapse(questionTimerKey));
    }
  }

  /// Lets the questions lapse that running tool calls asked: the process that asked has stopped.
  void lapseLive(ContextId context) {
    log.append(
        context,
        AppendGuard.none(),
        state ->
            state.openInputs().stream()
                .filter(open -> open.required().facts().live())
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
  static boolean isOpen(ContextState state, Id asked) {
    return open(state, asked).isPresent();
  }

  static Event lapsed(Id asked) {
    return switch (asked) {
      case InputId input -> new InputLapsed(input, "no answer arrived in time");
      case AuthId auth -> new AuthLapsed(auth, "no sign-in was completed in time");
      default -> throw new IllegalStateException("not the id of a question: " + asked);
    };
  }

  private static TaskEnding unanswered(OpenQuestion openQuestion) {
    var prompt = openQuestion.prompt();
    var shown = prompt.length() <= SHOWN ? prompt : prompt.substring(0, SHOWN) + "…";
    return TaskEnding.failed(ErrorCode.TIMEOUT, "no answer arrived in time: " + shown, true);
  }

  private static List<EventDraft> draft(ContextState state, TaskId task, Event event) {
    return List.of(
        new EventDraft(state.openTask(task).orElseThrow(TaskQuestions::notWanted).origin(), event));
  }

  private static Rejection notWanted() {
    return new Rejection.Conflict("not-wanted", "the question was already answered or has expired");
  }
}
