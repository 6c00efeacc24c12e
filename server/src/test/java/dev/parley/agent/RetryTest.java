package dev.parley.agent;

import static dev.parley.model.StandInAnswer.refusing;
import static dev.parley.model.StandInAnswer.saying;
import static dev.parley.model.StandInAnswer.text;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.model.AnthropicModel;
import dev.parley.model.Bounds;
import dev.parley.model.ModelHttp;
import dev.parley.model.ModelSettings;
import dev.parley.model.ModelSources;
import dev.parley.model.StandInAnswer;
import dev.parley.model.StandInAnswer.Ending;
import dev.parley.model.StandInAnswer.Step;
import dev.parley.model.StandInModel;
import dev.parley.protocol.ContentEvent.ContentComplete;
import dev.parley.protocol.Kind;
import dev.parley.protocol.ReportEvent.ErrorCode;
import dev.parley.protocol.ReportEvent.ErrorReported;
import dev.parley.protocol.ReportEvent.Usage;
import dev.parley.protocol.TaskEvent.TaskComplete;
import dev.parley.protocol.TaskEvent.TaskStatus;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.TaskState;
import dev.parley.task.World;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/// The events of a task whose model call fails and is retried.
@Timeout(60)
class RetryTest {

  private static final String BUSY = "{\"error\":{\"type\":\"t\",\"message\":\"busy\"}}";

  @TempDir Path folder;

  private final List<Duration> waits = new CopyOnWriteArrayList<>();

  /// Runs a task whose model server returns these answers, and checks the log afterwards.
  private void run(Check check, StandInAnswer... answers) throws Exception {
    try (var server = StandInModel.scripted(answers);
        var http = new ModelHttp()) {
      var sources =
          new ModelSources(World.SOURCES.clock(), new Random(1), waits::add, World.SOURCES.ids());
      var settings = new ModelSettings("claude-test", server.url(), null, null, 0, null);
      var model = new AnthropicModel(http, settings, Bounds.USUAL, sources);
      try (var world = Assistant.world(model, List.of(), folder)) {
        var task = world.say("go").taskId();
        world.end(task);
        check.check(world, task);
      }
    }
  }

  private interface Check {
    void check(World world, TaskId task);
  }

  @Test
  void each_further_attempt_is_a_public_status_with_its_number_and_the_reason() throws Exception {
    run(
        (world, task) -> {
          var retries = retries(world, task);
          assertThat(retries).hasSize(4);
          assertThat(retries.getFirst().message())
              .isEqualTo("Retrying (2 of 5): the model's server failed with 503: busy");
          assertThat(retries.getFirst().status()).isEqualTo(TaskState.WORKING);
          assertThat(retries.getFirst().internal()).isFalse();
          var about = about(retries.getFirst());
          assertThat(about.path("attempt").asInt()).isEqualTo(2);
          assertThat(about.path("maxAttempts").asInt()).isEqualTo(5);
          assertThat(about.path("delayMs").asLong()).isEqualTo(waits.getFirst().toMillis());
          assertThat(about.path("code").asString()).isEqualTo("model_error");
          assertThat(about.path("reason").asString()).endsWith("503: busy");
          assertThat(about.path("model").asString()).isEqualTo("claude-test");
          assertThat(retries.stream().map(retry -> about(retry).path("attempt").asInt()))
              .containsExactly(2, 3, 4, 5);
          var error = world.events(task, ErrorReported.class).getFirst();
          assertThat(error.code()).isEqualTo(ErrorCode.MODEL_ERROR);
        },
        refusing(503, BUSY));
  }

  @Test
  void a_break_after_text_is_followed_by_a_wait_and_a_block_that_replaces_the_text()
      throws Exception {
    run(
        (world, task) -> {
          var blocks = world.events(task, ContentComplete.class);
          assertThat(blocks)
              .extracting(ContentComplete::content)
              .containsExactly("half ", "half again ", "whole");
          assertThat(blocks.get(0).partial()).isTrue();
          assertThat(blocks.get(1).replaces()).isEqualTo(blocks.get(0).blockId());
          assertThat(blocks.get(2).replaces()).isEqualTo(blocks.get(1).blockId());
          assertThat(waits).hasSize(2);
          assertThat(retries(world, task))
              .extracting(TaskStatus::message)
              .containsExactly(
                  "Retrying (2 of 5): the model's answer ended in the middle",
                  "Retrying (3 of 5): the model's answer ended in the middle");
          assertThat(world.answer(task).content()).isEqualTo("whole");
          assertThat(world.kinds(task)).containsOnlyOnce(Kind.INTERNAL_LLM_CALL);
        },
        StandInAnswer.of(text("half ")).ending(Ending.CUT),
        StandInAnswer.of(text("half again ")).ending(Ending.CUT),
        saying("whole"));
  }

  @Test
  void tokens_of_an_attempt_that_broke_count() throws Exception {
    run(
        (world, task) -> {
          assertThat(world.events(task, Usage.class))
              .extracting(Usage::inputTokens)
              .containsExactly(100L, 10L);
          var end = world.events(task, TaskComplete.class).getFirst();
          // The stand-in reports one token of output at the start of an answer.
          assertThat(end.metadata().path("tokensUsed").asLong()).isEqualTo(100 + 1 + 10 + 5);
        },
        StandInAnswer.of(text("half "), new Step.Used(100, 50, 0, 0)).ending(Ending.CUT),
        saying("whole"));
  }

  @Test
  void a_task_whose_last_attempt_broke_says_why_and_keeps_only_the_last_text() throws Exception {
    run(
        (world, task) -> {
          assertThat(waits).hasSize(4);
          var error = world.events(task, ErrorReported.class).getFirst();
          assertThat(error.message()).isEqualTo("the model's answer ended in the middle");
          assertThat(world.events(task, Usage.class)).hasSize(5);
          assertThat(world.answer(task).content()).isEqualTo("half ");
        },
        StandInAnswer.of(text("half "), new Step.Used(7, 5, 0, 0)).ending(Ending.CUT));
  }

  private static List<TaskStatus> retries(World world, TaskId task) {
    return world.events(task, TaskStatus.class).stream()
        .filter(status -> status.metadata() != null && status.metadata().has("retry"))
        .toList();
  }

  private static JsonNode about(TaskStatus status) {
    return status.metadata().path("retry");
  }
}
