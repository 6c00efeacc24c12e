package dev.parley.task;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.control.ApprovalRules;
import dev.parley.control.ControlStorage;
import dev.parley.log.AppendGuard;
import dev.parley.log.Decision;
import dev.parley.log.EventDraft;
import dev.parley.log.MemoryLog;
import dev.parley.protocol.AuthEvent.AuthRequired;
import dev.parley.protocol.AuthEvent.AuthType;
import dev.parley.protocol.AuthId;
import dev.parley.protocol.Event;
import dev.parley.protocol.InputEvent.InputLapsed;
import dev.parley.protocol.InputEvent.InputRequired;
import dev.parley.protocol.InputEvent.InputType;
import dev.parley.protocol.InputId;
import dev.parley.protocol.Origin;
import dev.parley.protocol.TaskEvent.Initiator;
import dev.parley.protocol.TaskEvent.TaskCreated;
import dev.parley.protocol.TaskEvent.TaskStatus;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.TaskState;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.node.StringNode;

/// A question has a timer exactly as long as it is open.
class InputTimersTest {

  private static final InputId INPUT = new InputId("i");
  private static final AuthId AUTH = new AuthId("a");

  private final Instant tomorrow = TaskTestBed.SOURCES.time().instant().plus(Duration.ofDays(1));
  private final MemoryLog log = TaskTestBed.newLog();
  private final Origin task = Origin.root(new TaskId("t"), TaskTestBed.AGENT);
  private final Timers timers = new Timers(TaskTestBed.SOURCES.time());
  private final QuestionTimers questionTimers =
      new QuestionTimers(
          log,
          new TaskSettings(
              new AgentDirectory(Map.of(TaskTestBed.AGENT, new GatedAgent()), TaskTestBed.AGENT),
              new Workspaces(List.of(Path.of("/"))),
              TaskLimits.DEFAULT,
              FailPoint.NONE),
          TaskTestBed.SOURCES,
          timers,
          new QuestionTimers.QuestionListeners((_, _) -> {}, (_, _, _) -> {}));
  private final TaskQuestions taskQuestions =
      new TaskQuestions(
          log,
          new LogHistory(log),
          new AnswerDuration(log, TaskTestBed.SOURCES),
          new RememberedApprovals(
              log, new ApprovalRules(ControlStorage.inMemory()), TaskTestBed.SOURCES),
          questionTimers,
          (_, _) -> {});

  @BeforeEach
  void asks() {
    append(
        new TaskCreated(Initiator.USER, null, null, null, null, null, null, null),
        new TaskStatus(TaskState.WORKING, null, null),
        new InputRequired(INPUT, true, InputType.CLARIFICATION, "who?", null, null, null, tomorrow),
        new AuthRequired(AUTH, AuthType.API_KEY, null, null, "sign in", null, null, tomorrow));
    questionTimers.start(TaskTestBed.CONTEXT);
    assertThat(timers.size()).isEqualTo(2);
  }

  @AfterEach
  void close() {
    timers.close();
  }

  @Test
  void an_answer_drops_the_timer_of_what_it_answers() {
    var by = new TaskQuestions.AnswerDetails(Answerer.trusted("ada"), AppendGuard.none(), null);
    taskQuestions.answer(TaskTestBed.CONTEXT, Map.of(INPUT, StringNode.valueOf("ada")), by);
    assertThat(timers.size()).isEqualTo(1);

    taskQuestions.completeSignIn(TaskTestBed.CONTEXT, AUTH, null, by);
    assertThat(timers.size()).isZero();
  }

  @Test
  void what_others_let_lapse_has_no_timer_once_the_context_moves_on() {
    append(new InputLapsed(INPUT, "replaced by a message"));
    questionTimers.stop(TaskTestBed.CONTEXT);
    assertThat(timers.size()).isEqualTo(1);

    append(new TaskStatus(TaskState.CANCELED, null, null));
    questionTimers.stop(TaskTestBed.CONTEXT);
    assertThat(timers.size()).isZero();
  }

  @Test
  void a_deleted_context_leaves_no_timer() {
    log.delete(TaskTestBed.CONTEXT);

    questionTimers.stop(TaskTestBed.CONTEXT);

    assertThat(timers.size()).isZero();
  }

  private void append(Event... events) {
    var drafts = List.of(events).stream().map(event -> new EventDraft(task, event)).toList();
    log.append(
        TaskTestBed.CONTEXT,
        AppendGuard.none(),
        Decision.always(drafts.toArray(new EventDraft[0])));
  }
}
