package dev.parley.task;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.log.Guard;
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
import dev.parley.task.Submission.Options;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SubmitTest {

  @TempDir Path folder;
  @TempDir Path elsewhere;

  private World world() {
    return World.with(run -> new Outcome.Completed("done: " + run.created().prompt()), folder);
  }

  @Test
  void a_message_and_its_task_enter_the_log_in_one_step_and_the_task_runs_to_its_end()
      throws Exception {
    try (var world = world()) {
      var accepted = world.say("hello");

      assertThat(world.end(accepted.taskId())).isEqualTo(TaskState.COMPLETED);
      assertThat(world.entries().stream().map(e -> e.event().kind()))
          .containsExactly(
              Kind.CONTEXT_CREATED,
              Kind.MESSAGE,
              Kind.TASK_CREATED,
              Kind.TASK_STATUS,
              Kind.MESSAGE,
              Kind.TASK_STATUS,
              Kind.TASK_COMPLETE);
      assertThat(accepted.seq()).isEqualTo(2);
      assertThat(IntStream.range(0, 7).mapToLong(i -> world.entries().get(i).position().seq()))
          .containsExactly(1L, 2L, 3L, 4L, 5L, 6L, 7L);
    }
  }

  @Test
  void the_events_say_what_was_asked_and_what_came_of_it() throws Exception {
    try (var world = world()) {
      var accepted =
          world
              .tasks()
              .submit(
                  World.submission(
                      "hello",
                      new Options(
                          World.AGENT, "code_review", Priority.HIGH, 5000L, ".", "single", null)));
      world.end(accepted.taskId());

      var said = (Message) world.entries().get(1).event();
      assertThat(said.messageId()).isEqualTo(accepted.messageId());
      assertThat(said.role()).isEqualTo(Role.USER);
      assertThat(said.metadata().path("taskId").asString()).isEqualTo(accepted.taskId().value());
      var created = world.events(accepted.taskId(), TaskCreated.class).getFirst();
      assertThat(created.messageId()).isEqualTo(accepted.messageId());
      assertThat(created.prompt()).isEqualTo("hello");
      assertThat(created.taskType()).isEqualTo("code_review");
      assertThat(created.priority()).isEqualTo(Priority.HIGH);
      assertThat(created.timeoutMs()).isEqualTo(5000L);
      assertThat(created.workingDirectory()).isEqualTo(folder.toRealPath().toString());
      var answer = world.answer(accepted.taskId());
      assertThat(answer.messageId()).isNotEqualTo(accepted.messageId());
      assertThat(answer.content()).isEqualTo("done: hello");
      assertThat(answer.metadata().has("usage")).isTrue();
      assertThat(answer.metadata().has("duration")).isTrue();
      var complete = world.events(accepted.taskId(), TaskComplete.class).getFirst();
      assertThat(complete.content()).isEqualTo("done: hello");
      assertThat(complete.metadata().propertyNames())
          .containsExactly("duration", "iterations", "tokensUsed", "usage", "modelUsage");
    }
  }

  @Test
  void an_empty_answer_is_marked_as_such() throws Exception {
    try (var world = World.with(_ -> new Outcome.Completed(" "), folder)) {
      var accepted = world.say("hello");
      world.end(accepted.taskId());

      assertThat(world.answer(accepted.taskId()).metadata().path("empty").asBoolean()).isTrue();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"", " ", "\n\t"})
  void a_blank_message_is_refused_and_leaves_no_trace(String text) {
    assertRefused(World.submission(text, Options.NONE), Rejection.Invalid.class, "needs text");
  }

  @Test
  void a_message_that_is_too_long_is_refused() {
    var text = "x".repeat(Limits.DEFAULT.maxContentLength() + 1);

    assertRefused(World.submission(text, Options.NONE), Rejection.TooLarge.class, "at most");
  }

  @Test
  void an_unknown_agent_is_refused_and_the_known_ones_are_named() {
    var options = new Options(new AgentTypeId("nobody"), null, null, null, null, null, null);

    assertRefused(World.submission("hi", options), Rejection.Invalid.class, "known: worker");
  }

  @Test
  void an_unknown_task_type_is_refused() {
    var options = new Options(null, "cooking", null, null, null, null, null);

    assertRefused(World.submission("hi", options), Rejection.Invalid.class, "taskType");
  }

  @Test
  void every_task_type_of_the_closed_list_is_accepted() {
    try (var world = world()) {
      for (var type : TaskType.values()) {
        var options = new Options(null, type.wire(), null, null, null, null, null);
        world.tasks().submit(World.submission("hi", options));
      }
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {0, -1, 86_400_001, Long.MAX_VALUE})
  void a_timeout_outside_its_bounds_is_refused(long timeout) {
    assertRefused(
        World.submission("hi", World.timeout(timeout)),
        Rejection.Invalid.class,
        "the timeout of a task is between 1 and");
  }

  @Test
  void an_unknown_strategy_is_refused() {
    var options = new Options(null, null, null, null, null, "magic", null);

    assertRefused(World.submission("hi", options), Rejection.Invalid.class, "strategy");
  }

  @ParameterizedTest
  @ValueSource(strings = {"..", "../..", "/", "/etc", "missing", "file.txt", "link", "a\0b"})
  void a_working_directory_outside_the_workspaces_or_missing_is_refused(String directory)
      throws IOException {
    Files.writeString(folder.resolve("file.txt"), "x");
    Files.createSymbolicLink(folder.resolve("link"), elsewhere);
    var options = new Options(null, null, null, null, directory, null, null);

    assertRefused(World.submission("hi", options), Rejection.Invalid.class, "workingDirectory");
  }

  @Test
  void a_link_inside_a_workspace_to_a_folder_inside_it_is_followed() throws Exception {
    var real = Files.createDirectory(folder.resolve("real"));
    Files.createSymbolicLink(folder.resolve("link"), real);
    try (var world = world()) {
      var options = new Options(null, null, null, null, "link", null, null);
      var accepted = world.tasks().submit(World.submission("hi", options));

      assertThat(world.events(accepted.taskId(), TaskCreated.class).getFirst().workingDirectory())
          .isEqualTo(real.toRealPath().toString());
    }
  }

  @Test
  void an_unknown_context_is_not_found() {
    try (var world = world()) {
      var submission =
          new Submission(new ContextId("other"), "local", "hi", null, Options.NONE, Guard.none());

      assertThatThrownBy(() -> world.tasks().submit(submission))
          .isInstanceOf(Rejection.NotFound.class);
    }
  }

  @Test
  void the_same_key_and_body_get_the_same_answer_and_one_task() throws Exception {
    try (var world = world()) {
      var guard = new Guard.Once("local", "key", "hash");
      var submission = new Submission(World.CONTEXT, "local", "hi", null, Options.NONE, guard);
      var first = world.tasks().submit(submission);
      world.end(first.taskId());
      var second = world.tasks().submit(submission);

      assertThat(second).isEqualTo(first);
      assertThat(world.entries().stream().map(e -> e.event()))
          .filteredOn(TaskCreated.class::isInstance)
          .hasSize(1);
    }
  }

  @Test
  void the_same_key_with_another_body_is_refused() {
    try (var world = world()) {
      var first = new Guard.Once("local", "key", "hash");
      var other = new Guard.Once("local", "key", "other");
      world.tasks().submit(new Submission(World.CONTEXT, "local", "hi", null, Options.NONE, first));

      assertThatThrownBy(
              () ->
                  world
                      .tasks()
                      .submit(
                          new Submission(World.CONTEXT, "local", "ho", null, Options.NONE, other)))
          .isInstanceOf(Rejection.Conflict.class);
    }
  }

  @Test
  void an_agent_that_breaks_ends_its_task_as_failed_and_not_the_server() throws Exception {
    try (var world =
        World.with(
            run -> {
              if ("break".equals(run.created().prompt())) {
                throw new IllegalStateException("on purpose");
              }
              return new Outcome.Completed("fine");
            },
            folder)) {
      var broken = world.say("break");
      var fine = world.say("work");

      assertThat(world.end(broken.taskId())).isEqualTo(TaskState.FAILED);
      assertThat(world.end(fine.taskId())).isEqualTo(TaskState.COMPLETED);
      assertThat(world.kinds(broken.taskId())).endsWith(Kind.ERROR, Kind.TASK_STATUS);
    }
  }

  private void assertRefused(
      Submission submission, Class<? extends Rejection> type, String message) {
    try (var world = world()) {
      assertThatThrownBy(() -> world.tasks().submit(submission))
          .isInstanceOf(type)
          .hasMessageContaining(message);
      assertThat(world.entries()).hasSize(1);
    }
  }
}
