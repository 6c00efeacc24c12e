package dev.parley.task;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.log.AppendGuard;
import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Kind;
import dev.parley.protocol.MessageEvent.Message;
import dev.parley.protocol.MessageEvent.Role;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.TaskEvent.Priority;
import dev.parley.protocol.TaskEvent.TaskComplete;
import dev.parley.protocol.TaskEvent.TaskCreated;
import dev.parley.protocol.TaskState;
import dev.parley.task.Submission.TaskOptions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SubmitTest {

  @TempDir Path folder;
  @TempDir Path elsewhere;

  private TaskTestBed world() {
    return TaskTestBed.with(
        taskRun -> new TaskOutcome.Completed("done: " + taskRun.created().prompt()), folder);
  }

  @Test
  void a_message_and_its_task_enter_the_log_in_one_step_and_the_task_runs_to_its_end()
      throws Exception {
    try (var taskTestBed = world()) {
      var acceptedMessage = taskTestBed.submit("hello");

      assertThat(taskTestBed.awaitEnd(acceptedMessage.taskId())).isEqualTo(TaskState.COMPLETED);
      assertThat(taskTestBed.entries().stream().map(e -> e.kind()))
          .containsExactly(
              Kind.CONTEXT_CREATED,
              Kind.MESSAGE,
              Kind.TASK_CREATED,
              Kind.TASK_STATUS,
              Kind.MESSAGE,
              Kind.TASK_STATUS,
              Kind.TASK_COMPLETE);
      assertThat(acceptedMessage.seq()).isEqualTo(2);
      assertThat(
              IntStream.range(0, 7).mapToLong(i -> taskTestBed.entries().get(i).position().seq()))
          .containsExactly(1L, 2L, 3L, 4L, 5L, 6L, 7L);
    }
  }

  @Test
  void the_events_say_what_was_asked_and_what_came_of_it() throws Exception {
    try (var taskTestBed = world()) {
      var acceptedMessage =
          taskTestBed
              .tasks()
              .submit(
                  TaskTestBed.submission(
                      "hello",
                      new TaskOptions(
                          TaskTestBed.AGENT,
                          "code_review",
                          Priority.HIGH,
                          5000L,
                          ".",
                          "single",
                          null)));
      taskTestBed.awaitEnd(acceptedMessage.taskId());

      var said = (Message) taskTestBed.entries().get(1).event();
      assertThat(said.messageId()).isEqualTo(acceptedMessage.messageId());
      assertThat(said.role()).isEqualTo(Role.USER);
      assertThat(said.metadata().path("taskId").asString())
          .isEqualTo(acceptedMessage.taskId().value());
      var created = taskTestBed.events(acceptedMessage.taskId(), TaskCreated.class).getFirst();
      assertThat(created.messageId()).isEqualTo(acceptedMessage.messageId());
      assertThat(created.prompt()).isEqualTo("hello");
      assertThat(created.taskType()).isEqualTo("code_review");
      assertThat(created.priority()).isEqualTo(Priority.HIGH);
      assertThat(created.timeoutMs()).isEqualTo(5000L);
      assertThat(created.workingDirectory()).isEqualTo(folder.toRealPath().toString());
      var answer = taskTestBed.answer(acceptedMessage.taskId());
      assertThat(answer.messageId()).isNotEqualTo(acceptedMessage.messageId());
      assertThat(answer.content()).isEqualTo("done: hello");
      assertThat(answer.metadata().has("usage")).isTrue();
      assertThat(answer.metadata().has("duration")).isTrue();
      var complete = taskTestBed.events(acceptedMessage.taskId(), TaskComplete.class).getFirst();
      assertThat(complete.content()).isEqualTo("done: hello");
      assertThat(complete.metadata().propertyNames())
          .containsExactly("duration", "iterations", "tokensUsed", "usage", "modelUsage");
    }
  }

  @Test
  void an_empty_answer_is_marked_as_such() throws Exception {
    try (var taskTestBed = TaskTestBed.with(_ -> new TaskOutcome.Completed(" "), folder)) {
      var acceptedMessage = taskTestBed.submit("hello");
      taskTestBed.awaitEnd(acceptedMessage.taskId());

      assertThat(taskTestBed.answer(acceptedMessage.taskId()).metadata().path("empty").asBoolean())
          .isTrue();
      var end = taskTestBed.events(acceptedMessage.taskId(), TaskComplete.class).getFirst();
      assertThat(end.metadata().path("empty").asBoolean()).isTrue();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"", " ", "\n\t"})
  void a_blank_message_is_refused_and_leaves_no_trace(String text) {
    assertRefused(
        TaskTestBed.submission(text, TaskOptions.NONE), Rejection.Invalid.class, "needs text");
  }

  @Test
  void a_message_that_is_too_long_is_refused() {
    var text = "x".repeat(TaskLimits.DEFAULT.maxContentLength() + 1);

    assertRefused(
        TaskTestBed.submission(text, TaskOptions.NONE), Rejection.TooLarge.class, "at most");
  }

  @Test
  void an_unknown_agent_is_refused_and_the_known_ones_are_named() {
    var taskOptions =
        new TaskOptions(new AgentTypeId("nobody"), null, null, null, null, null, null);

    assertRefused(
        TaskTestBed.submission("hi", taskOptions), Rejection.Invalid.class, "known: worker");
  }

  @Test
  void a_task_type_that_is_not_an_identifier_is_refused() {
    for (var type : List.of("", "two words", "x".repeat(129))) {
      var taskOptions = new TaskOptions(null, type, null, null, null, null, null);

      assertRefused(
          TaskTestBed.submission("hi", taskOptions),
          Rejection.Invalid.class,
          "taskType must be 1 to 128 characters of");
    }
  }

  @Test
  void any_identifier_is_accepted_as_a_task_type() throws Exception {
    try (var taskTestBed = world()) {
      for (var type : List.of(TaskType.GENERAL.value(), "cooking", "acme:kitchen.soup-2")) {
        var taskOptions = new TaskOptions(null, type, null, null, null, null, null);
        var accepted = taskTestBed.tasks().submit(TaskTestBed.submission("hi", taskOptions));
        taskTestBed.awaitEnd(accepted.taskId());

        assertThat(taskTestBed.events(accepted.taskId(), TaskCreated.class).getFirst().taskType())
            .isEqualTo(type);
      }
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {0, -1, 86_400_001, Long.MAX_VALUE})
  void a_timeout_outside_its_bounds_is_refused(long timeout) {
    assertRefused(
        TaskTestBed.submission("hi", TaskTestBed.timeout(timeout)),
        Rejection.Invalid.class,
        "the timeout of a task is between 1 and");
  }

  @Test
  void an_unknown_strategy_is_refused() {
    var taskOptions = new TaskOptions(null, null, null, null, null, "magic", null);

    assertRefused(TaskTestBed.submission("hi", taskOptions), Rejection.Invalid.class, "strategy");
  }

  @ParameterizedTest
  @ValueSource(strings = {"..", "../..", "/", "/etc", "missing", "file.txt", "link", "a\0b"})
  void a_working_directory_outside_the_workspaces_or_missing_is_refused(String directory)
      throws IOException {
    Files.writeString(folder.resolve("file.txt"), "x");
    Files.createSymbolicLink(folder.resolve("link"), elsewhere);
    var taskOptions = new TaskOptions(null, null, null, null, directory, null, null);

    assertRefused(
        TaskTestBed.submission("hi", taskOptions), Rejection.Invalid.class, "workingDirectory");
  }

  @Test
  void a_link_inside_a_workspace_to_a_folder_inside_it_is_followed() throws Exception {
    var real = Files.createDirectory(folder.resolve("real"));
    Files.createSymbolicLink(folder.resolve("link"), real);
    try (var taskTestBed = world()) {
      var taskOptions = new TaskOptions(null, null, null, null, "link", null, null);
      var acceptedMessage = taskTestBed.tasks().submit(TaskTestBed.submission("hi", taskOptions));

      assertThat(
              taskTestBed
                  .events(acceptedMessage.taskId(), TaskCreated.class)
                  .getFirst()
                  .workingDirectory())
          .isEqualTo(real.toRealPath().toString());
    }
  }

  @Test
  void an_unknown_context_is_not_found() {
    try (var taskTestBed = world()) {
      var submission =
          new Submission(
              new ContextId("other"), "local", "hi", null, TaskOptions.NONE, AppendGuard.none());

      assertThatThrownBy(() -> taskTestBed.tasks().submit(submission))
          .isInstanceOf(Rejection.NotFound.class);
    }
  }

  @Test
  void the_same_key_and_body_get_the_same_answer_and_one_task() throws Exception {
    try (var taskTestBed = world()) {
      var guard = new AppendGuard.IdempotencyKey("local", "key", "hash");
      var submission =
          new Submission(TaskTestBed.CONTEXT, "local", "hi", null, TaskOptions.NONE, guard);
      var first = taskTestBed.tasks().submit(submission);
      taskTestBed.awaitEnd(first.taskId());
      var second = taskTestBed.tasks().submit(submission);

      assertThat(second).isEqualTo(first);
      assertThat(taskTestBed.entries().stream().map(e -> e.event()))
          .filteredOn(TaskCreated.class::isInstance)
          .hasSize(1);
    }
  }

  @Test
  void the_same_key_with_another_body_is_refused() {
    try (var taskTestBed = world()) {
      var first = new AppendGuard.IdempotencyKey("local", "key", "hash");
      var other = new AppendGuard.IdempotencyKey("local", "key", "other");
      taskTestBed
          .tasks()
          .submit(
              new Submission(TaskTestBed.CONTEXT, "local", "hi", null, TaskOptions.NONE, first));

      assertThatThrownBy(
              () ->
                  taskTestBed
                      .tasks()
                      .submit(
                          new Submission(
                              TaskTestBed.CONTEXT, "local", "ho", null, TaskOptions.NONE, other)))
          .isInstanceOf(Rejection.Conflict.class);
    }
  }

  @Test
  void an_agent_that_breaks_ends_its_task_as_failed_and_not_the_server() throws Exception {
    try (var taskTestBed =
        TaskTestBed.with(
            taskRun -> {
              if ("break".equals(taskRun.created().prompt())) {
                throw new IllegalStateException("on purpose");
              }
              return new TaskOutcome.Completed("fine");
            },
            folder)) {
      var broken = taskTestBed.submit("break");
      var fine = taskTestBed.submit("work");

      assertThat(taskTestBed.awaitEnd(broken.taskId())).isEqualTo(TaskState.FAILED);
      assertThat(taskTestBed.awaitEnd(fine.taskId())).isEqualTo(TaskState.COMPLETED);
      assertThat(taskTestBed.kinds(broken.taskId())).endsWith(Kind.ERROR, Kind.TASK_STATUS);
    }
  }

  private void assertRefused(
      Submission submission, Class<? extends Rejection> type, String message) {
    try (var taskTestBed = world()) {
      assertThatThrownBy(() -> taskTestBed.tasks().submit(submission))
          .isInstanceOf(type)
          .hasMessageContaining(message);
      assertThat(taskTestBed.entries()).hasSize(1);
    }
  }
}
