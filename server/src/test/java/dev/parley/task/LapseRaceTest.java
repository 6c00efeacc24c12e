package dev.parley.task;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.log.AppendGuard;
import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.Event;
import dev.parley.protocol.InputEvent.InputLapsed;
import dev.parley.protocol.InputEvent.InputReceived;
import dev.parley.protocol.InputEvent.InputRequired;
import dev.parley.protocol.InputEvent.InputType;
import dev.parley.protocol.InputId;
import dev.parley.protocol.Json;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.ReportEvent.ErrorReported;
import dev.parley.protocol.TaskEvent.TaskStatus;
import dev.parley.protocol.TaskState;
import dev.parley.runtime.ManualTime;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.node.StringNode;

/// An answer that arrives at the moment in which the task fails because its question expires.
@Timeout(60)
class LapseRaceTest {

  private static final InputId INPUT = new InputId("i");
  private static final Duration EXPIRY = Duration.ofMinutes(1);

  @TempDir Path folder;

  private final ManualTime time = new ManualTime();

  /// Asks a question, waits for the answer with or without a thread, and returns it.
  private record Asker(boolean parks) implements Agent {

    @Override
    public boolean resumes() {
      return true;
    }

    @Override
    public TaskOutcome work(TaskRun taskRun) throws InterruptedException {
      var waiting = Json.object().put("blockedBy", "user");
      for (var entry : taskRun.readNewEntries()) {
        if (entry.event() instanceof InputReceived received) {
          return new TaskOutcome.Completed(received.value().asString());
        }
      }
      var before = taskRun.inspect(state -> state.head());
      taskRun.emit(List.of(question(taskRun)));
      if (parks) {
        return new TaskOutcome.Parked(TaskState.WAITING_INPUT, waiting);
      }
      var end =
          taskRun.waitFor(
              new TaskStatus(TaskState.WAITING_INPUT, null, waiting),
              before,
              entry -> entry.event() instanceof InputReceived);
      return new TaskOutcome.Completed(((InputReceived) end.event()).value().asString());
    }

    private static InputRequired question(TaskRun taskRun) {
      var metadata = Json.object().put("whenLapsed", WhenLapsed.FAIL.wire());
      var expires = taskRun.sources().time().instant().plus(EXPIRY);
      return new InputRequired(
          INPUT, true, InputType.CLARIFICATION, "who?", null, null, metadata, expires);
    }
  }

  private TaskTestBed world(boolean parks, FailPoint failPoint) {
    Map<AgentTypeId, Agent> agents = Map.of(TaskTestBed.AGENT, new Asker(parks));
    return TaskTestBed.with(
        TaskTestBed.newLog(time), agents, folder, TaskLimits.DEFAULT, failPoint);
  }

  private static void awaitWaiting(TaskTestBed taskTestBed) throws InterruptedException {
    taskTestBed.await(
        entry ->
            entry.event() instanceof TaskStatus status
                && status.status() == TaskState.WAITING_INPUT);
  }

  private static void answer(TaskTestBed taskTestBed) {
    taskTestBed
        .tasks()
        .answer(
            TaskTestBed.CONTEXT,
            INPUT,
            StringNode.valueOf("ada"),
            Answerer.trusted("local"),
            AppendGuard.none());
  }

  @Test
  void an_answer_that_is_taken_wins() throws Exception {
    var here = new AtomicReference<TaskTestBed>();
    FailPoint late =
        place -> {
          // The question has expired and the task is about to fail, but its end is not written yet.
          if (place.equals("below-ended")) {
            answer(here.get());
          }
        };
    try (var taskTestBed = world(true, late)) {
      here.set(taskTestBed);
      var task = taskTestBed.submit("hello").taskId();
      awaitWaiting(taskTestBed);
      taskTestBed.awaitNoRun();
      time.advanceToTimer("ExpiryKey");

      assertThat(taskTestBed.awaitEnd(task)).isEqualTo(TaskState.COMPLETED);
      assertThat(taskTestBed.events(task, InputReceived.class)).hasSize(1);
      assertThat(taskTestBed.events(task, InputLapsed.class)).isEmpty();
      assertThat(taskTestBed.events(task, ErrorReported.class)).isEmpty();
    }
  }

  @Test
  void an_answer_that_comes_too_late_is_refused() throws Exception {
    for (var parks : List.of(true, false)) {
      try (var taskTestBed = world(parks, FailPoint.NONE)) {
        var task = taskTestBed.submit("hello").taskId();
        awaitWaiting(taskTestBed);
        time.advanceToTimer("ExpiryKey");

        assertThat(taskTestBed.awaitEnd(task)).isEqualTo(TaskState.FAILED);
        assertThatThrownBy(() -> answer(taskTestBed)).isInstanceOf(Rejection.Conflict.class);
        assertThat(taskTestBed.events(task, InputReceived.class)).isEmpty();
        assertThat(taskTestBed.events(task, InputLapsed.class)).hasSize(1);
        assertThat(taskTestBed.events(task, ErrorReported.class)).hasSize(1);
      }
    }
  }

  /// Parks as soon as it has asked, and is satisfied without an answer.
  private record QuickParker() implements Agent {

    @Override
    public boolean resumes() {
      return true;
    }

    @Override
    public TaskOutcome work(TaskRun taskRun) {
      if (taskRun.readNewEntries().stream().anyMatch(entry -> LateParker.lapses(entry.event()))) {
        return new TaskOutcome.Completed("no answer");
      }
      taskRun.emit(List.of(Asker.question(taskRun)));
      return new TaskOutcome.Parked(
          TaskState.WAITING_INPUT, Json.object().put("blockedBy", "user"));
    }
  }

  /// Parks only when it has seen that its question lapsed, and is satisfied without an answer.
  private record LateParker() implements Agent {

    @Override
    public boolean resumes() {
      return true;
    }

    @Override
    public TaskOutcome work(TaskRun taskRun) {
      if (taskRun.readNewEntries().stream().anyMatch(entry -> lapses(entry.event()))) {
        return new TaskOutcome.Completed("no answer");
      }
      var before = taskRun.inspect(state -> state.head());
      taskRun.emit(List.of(Asker.question(taskRun)));
      try {
        taskRun.awaitEntry(before, entry -> lapses(entry.event()));
      } catch (InterruptedException stopped) {
        Thread.currentThread().interrupt();
      }
      return new TaskOutcome.Parked(
          TaskState.WAITING_INPUT, Json.object().put("blockedBy", "user"));
    }

    private static boolean lapses(Event event) {
      return event instanceof InputLapsed;
    }
  }

  // A race: repeated, because a run that loses it may still succeed.
  @RepeatedTest(20)
  void a_task_fails_if_its_question_expires_before_the_task_parks() throws Exception {
    failsWithoutAnswer(new LateParker());
  }

  @RepeatedTest(20)
  void a_task_fails_if_its_question_expires_while_the_task_parks() throws Exception {
    failsWithoutAnswer(new QuickParker());
  }

  private void failsWithoutAnswer(Agent agent) throws Exception {
    Map<AgentTypeId, Agent> agents = Map.of(TaskTestBed.AGENT, agent);
    try (var taskTestBed =
        TaskTestBed.with(
            TaskTestBed.newLog(time), agents, folder, TaskLimits.DEFAULT, FailPoint.NONE)) {
      var task = taskTestBed.submit("hello").taskId();
      time.advanceToTimer("ExpiryKey");

      assertThat(taskTestBed.awaitEnd(task)).isEqualTo(TaskState.FAILED);
      assertThat(taskTestBed.events(task, InputLapsed.class)).hasSize(1);
      assertThat(taskTestBed.events(task, ErrorReported.class)).hasSize(1);
    }
  }
}
