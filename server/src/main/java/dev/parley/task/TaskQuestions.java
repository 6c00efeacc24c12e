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
import dev.parley.protocol.InputEvent;
import dev.parley.protocol.InputEvent.InputLapsed;
import dev.parley.protocol.InputEvent.InputReceived;
import dev.parley.protocol.InputEvent.InputType;
import dev.parley.protocol.InputId;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.RuleView;
import dev.parley.protocol.TaskId;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// Accepts the answers to the questions of tasks, each once.
final class TaskQuestions {

  private final EventLog log;
  private final ContextHistory contextHistory;
  private final QuestionTimers timers;
  private final BiConsumer<ContextId, List<TaskId>> onAnswered;
  private final AnswerValidator validator = new AnswerValidator();
  private final AnswerDuration answerDuration;
  private final RememberedApprovals remembered;

  TaskQuestions(
      EventLog log,
      ContextHistory contextHistory,
      AnswerDuration answerDuration,
      RememberedApprovals remembered,
      QuestionTimers timers,
      BiConsumer<ContextId, List<TaskId>> onAnswered) {
    this.log = log;
    this.contextHistory = contextHistory;
    this.answerDuration = answerDuration;
    this.remembered = remembered;
    this.timers = timers;
    this.onAnswered = onAnswered;
  }

  /// Answers questions, all or none.
  ///
  /// @throws Rejection.Conflict `not-wanted` if one of them was answered or has lapsed
  /// @throws Rejection.Invalid if an answer is not valid; the questions stay open
  AppendResult answer(ContextId context, Map<InputId, JsonNode> answers, AnswerDetails by) {
    var tasks = new LinkedHashSet<TaskId>();
    var about = new HashMap<InputId, @Nullable ObjectNode>();
    var values = new LinkedHashMap<InputId, JsonNode>();
    var rules = new ArrayList<RuleView>();
    answers.forEach(
        (input, value) -> {
          tasks.add(taskOf(context, input));
          about.put(input, answerDuration.withDuration(by.metadata(), context, input));
          // Validated before the append, which must be quick, as schemas are not trusted. A
          // question never changes, so the result stays valid.
          values.put(input, checked(context, input, value, by.by(), rules));
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
    // Before the task continues: its next call may be the same one.
    remembered.store(appendResult.replayed() ? List.of() : rules);
    values.keySet().forEach(input -> timers.stop(context, input));
    onAnswered.accept(context, List.copyOf(tasks));
    return appendResult;
  }

  private static Stream<EventDraft> received(
      ContextState state, InputId input, JsonNode value, AnswerDetails by) {
    var open = state.openInput(input).orElseThrow(QuestionTimers::notWanted);
    var received =
        new InputReceived(
            input, InputEvent.Provider.USER, by.by().principal(), null, by.metadata(), value);
    return Stream.of(QuestionTimers.draft(state, open.task(), received));
  }

  /// Appends several answers at once, and after them the events of `more`, which may reject all.
  ///
  /// @throws Rejection.Conflict `not-wanted` if one of them was answered or has lapsed
  /// @throws Rejection.Invalid if one of them is not valid
  AppendResult resume(
      TaskResumption taskResumption, Function<ContextState, List<EventDraft>> more) {
    var context = taskResumption.context();
    var rules = new ArrayList<RuleView>();
    var answers =
        taskResumption.answers().stream()
            .map(
                givenAnswer ->
                    checked(
                        context, withDuration(context, givenAnswer), taskResumption.by(), rules))
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
                      drafts.add(draft(state, givenAnswer, taskResumption.by().principal())));
              drafts.addAll(said);
              return drafts;
            });
    remembered.store(appendResult.replayed() ? List.of() : rules);
    answers.forEach(givenAnswer -> timers.stop(context, givenAnswer.questionId()));
    onAnswered.accept(context, started(context));
    return appendResult;
  }

  private TaskResumption.GivenAnswer withDuration(
      ContextId context, TaskResumption.GivenAnswer givenAnswer) {
    return givenAnswer.questionId() instanceof InputId input
        ? givenAnswer.with(answerDuration.withDuration(givenAnswer.metadata(), context, input))
        : givenAnswer;
  }

  private TaskResumption.GivenAnswer checked(
      ContextId context,
      TaskResumption.GivenAnswer givenAnswer,
      Answerer by,
      List<RuleView> rules) {
    var value = givenAnswer.value();
    return givenAnswer.questionId() instanceof InputId input && value != null
        ? new TaskResumption.GivenAnswer(
            input,
            checked(context, input, value, by, rules),
            givenAnswer.metadata(),
            givenAnswer.reason())
        : givenAnswer;
  }

  /// The answer with the defaults of its form. Rejects an approval by a caller who may not approve,
  /// and an invalid answer. Adds the rule that the answer asks for.
  private JsonNode checked(
      ContextId context, InputId input, JsonNode value, Answerer by, List<RuleView> rules) {
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
    if (asked.inputType() == InputType.CONFIRMATION) {
      remembered.rule(context, open.get(), whole, by).ifPresent(rules::add);
    }
    return whole;
  }

  private static EventDraft draft(
      ContextState state, TaskResumption.GivenAnswer givenAnswer, String principal) {
    var task =
        QuestionTimers.asker(state, givenAnswer.questionId())
            .orElseThrow(QuestionTimers::notWanted);
    return QuestionTimers.draft(state, task, event(givenAnswer, principal));
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
                contextHistory
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
                    contextHistory
                        .askingTask(context, auth)
                        .orElseThrow(() -> new Rejection.NotFound("no such sign-in: " + auth)));
    var appendResult =
        log.append(
            context,
            by.guard(),
            state -> {
              var open = state.openAuth(auth).orElseThrow(QuestionTimers::notWanted);
              var completed = new AuthCompleted(auth, by.by().principal(), metadata);
              return List.of(QuestionTimers.draft(state, open.task(), completed));
            });
    timers.stop(context, auth);
    onAnswered.accept(context, List.of(task));
    return appendResult;
  }
}
