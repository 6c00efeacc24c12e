package dev.parley.agent;

import static dev.parley.model.FakeModelAnswer.refusing;
import static dev.parley.model.FakeModelAnswer.saying;
import static dev.parley.model.FakeModelAnswer.text;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.model.AnthropicModel;
import dev.parley.model.FakeModelAnswer;
import dev.parley.model.FakeModelAnswer.Ending;
import dev.parley.model.FakeModelAnswer.Step;
import dev.parley.model.FakeModelServer;
import dev.parley.model.ModelLimits;
import dev.parley.model.ModelSettings;
import dev.parley.model.ModelSources;
import dev.parley.net.OutgoingHttpClient;
import dev.parley.protocol.ContentEvent.ContentComplete;
import dev.parley.protocol.Kind;
import dev.parley.protocol.ReportEvent.ErrorCode;
import dev.parley.protocol.ReportEvent.ErrorReported;
import dev.parley.protocol.ReportEvent.Usage;
import dev.parley.protocol.TaskEvent.TaskComplete;
import dev.parley.protocol.TaskEvent.TaskStatus;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.TaskState;
import dev.parley.runtime.RecordingTime;
import dev.parley.runtime.SystemThreads;
import dev.parley.task.TaskTestBed;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/// The events of a task whose model call fails and is retried.
@Timeout(60)
class RetryTest {

  private static final String BUSY = "{\"error\":{\"type\":\"t\",\"message\":\"busy\"}}";

  @TempDir Path folder;

  private final RecordingTime time = new RecordingTime(TaskTestBed.SOURCES.time());
  private final List<Duration> waits = time.sleeps();

  /// Runs a task whose model server returns these answers, and checks the log afterwards.
  private void run(Check check, FakeModelAnswer... answers) throws Exception {
    try (var server = FakeModelServer.scripted(answers);
        var http = new OutgoingHttpClient(time, new SystemThreads())) {
      var sources = new ModelSources(time, new Random(1), TaskTestBed.SOURCES.ids());
      var settings = new ModelSettings("claude-test", server.url(), null, null, 0, null);
      var model = new AnthropicModel(http, settings, ModelLimits.DEFAULT, sources);
      try (var taskTestBed = TestAssistant.world(model, List.of(), folder)) {
        var task = taskTestBed.submit("go").taskId();
        taskTestBed.awaitEnd(task);
        check.check(taskTestBed, task);
      }
    }
  }

  private interface Check {
    void check(TaskTestBed taskTestBed, TaskId task);
  }

  @Test
  void each_further_attempt_is_a_public_status_with_its_number_and_the_reason() throws Exception {
    run(
        (taskTestBed, task) -> {
          var retries = retries(taskTestBed, task);
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
          var error = taskTestBed.events(task, ErrorReported.class).getFirst();
          assertThat(error.code()).isEqualTo(ErrorCode.MODEL_ERROR);
        },
        refusing(503, BUSY));
  }

  @Test
  void a_break_after_text_is_followed_by_a_wait_and_a_block_that_replaces_the_text()
      throws Exception {
    run(
        (taskTestBed, task) -> {
          var blocks = taskTestBed.events(task, ContentComplete.class);
          assertThat(blocks)
              .extracting(ContentComplete::content)
              .containsExactly("half ", "half again ", "whole");
          assertThat(blocks.get(0).partial()).isTrue();
          assertThat(blocks.get(1).replaces()).isEqualTo(blocks.get(0).blockId());
          assertThat(blocks.get(2).replaces()).isEqualTo(blocks.get(1).blockId());
          assertThat(waits).hasSize(2);
          assertThat(retries(taskTestBed, task))
              .extracting(TaskStatus::message)
              .containsExactly(
                  "Retrying (2 of 5): the model's answer ended in the middle",
                  "Retrying (3 of 5): the model's answer ended in the middle");
          assertThat(taskTestBed.answer(task).content()).isEqualTo("whole");
          assertThat(taskTestBed.kinds(task)).containsOnlyOnce(Kind.INTERNAL_LLM_CALL);
        },
        FakeModelAnswer.of(text("half ")).ending(Ending.CUT),
        FakeModelAnswer.of(text("half again ")).ending(Ending.CUT),
        saying("whole"));
  }

  @Test
  void tokens_of_an_attempt_that_broke_count() throws Exception {
    run(
        (taskTestBed, task) -> {
          assertThat(taskTestBed.events(task, Usage.class))
              .extracting(Usage::inputTokens)
              .containsExactly(100L, 10L);
          var end = taskTestBed.events(task, TaskComplete.class).getFirst();
          // The stand-in reports one token of output at the start of an answer.
          assertThat(end.metadata().path("tokensUsed").asLong()).isEqualTo(100 + 1 + 10 + 5);
        },
        FakeModelAnswer.of(text("half "), new Step.Used(100, 50, 0, 0)).ending(Ending.CUT),
        saying("whole"));
  }

  @Test
  void a_task_whose_last_attempt_broke_says_why_and_keeps_only_the_last_text() throws Exception {
    run(
        (taskTestBed, task) -> {
          assertThat(waits).hasSize(4);
          var error = taskTestBed.events(task, ErrorReported.class).getFirst();
          assertThat(error.message()).isEqualTo("the model's answer ended in the middle");
          assertThat(taskTestBed.events(task, Usage.class)).hasSize(5);
          assertThat(taskTestBed.answer(task).content()).isEqualTo("half ");
        },
        FakeModelAnswer.of(text("half "), new Step.Used(7, 5, 0, 0)).ending(Ending.CUT));
  }

  private static List<TaskStatus> retries(TaskTestBed taskTestBed, TaskId task) {
    return taskTestBed.events(task, TaskStatus.class).stream()
        .filter(status -> status.metadata() != null && status.metadata().has("retry"))
        .toList();
  }

  private static JsonNode about(TaskStatus status) {
    return status.metadata().path("retry");
  }
}
