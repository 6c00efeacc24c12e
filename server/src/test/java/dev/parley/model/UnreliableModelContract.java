package dev.parley.model;

import static dev.parley.model.FakeModelAnswer.refusing;
import static dev.parley.model.FakeModelAnswer.saying;
import static dev.parley.model.FakeModelAnswer.text;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.model.FakeModelAnswer.Ending;
import dev.parley.model.FakeModelAnswer.Step;
import dev.parley.net.OutgoingHttpClient;
import dev.parley.protocol.ReportEvent.ErrorCode;
import dev.parley.protocol.ReportEvent.Usage;
import dev.parley.runtime.ManualTime;
import dev.parley.runtime.SystemThreads;
import java.net.URI;
import java.time.Duration;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/// The behavior of every remote model when the server or the connection fails.
abstract class UnreliableModelContract extends ModelRequestContract {

  private static final String BODY = "{\"error\":{\"type\":\"t\",\"message\":\"because\"}}";

  ModelReply.ModelError failed(Model model) throws InterruptedException {
    var modelReply = model.ask(prompt(said("go")), heard);
    assertThat(modelReply).isInstanceOf(ModelReply.ModelError.class);
    return (ModelReply.ModelError) modelReply;
  }

  @ParameterizedTest
  @CsvSource({
    "400, INVALID_INPUT, false",
    "401, AUTH, false",
    "403, AUTH, false",
    "404, INVALID_INPUT, false",
    "413, INVALID_INPUT, false",
    "422, INVALID_INPUT, false",
    "302, MODEL_ERROR, false",
    "429, RATE_LIMITED, true",
    "408, MODEL_ERROR, true",
    "500, MODEL_ERROR, true",
    "503, MODEL_ERROR, true",
    "529, MODEL_ERROR, true"
  })
  void a_refusal_says_what_is_wrong_and_is_retried_only_if_it_may_pass(
      int status, ErrorCode code, boolean retryable) throws Exception {
    var reply = failed(serving(refusing(status, BODY, "Location: http://elsewhere/")));

    assertThat(reply.code()).isEqualTo(code);
    assertThat(reply.retryable()).isEqualTo(retryable);
    assertThat(reply.message()).contains("because");
    assertThat(server.requests()).hasSize(retryable ? ModelLimits.DEFAULT.attemptsMax() : 1);
    assertThat(waits).hasSize(retryable ? ModelLimits.DEFAULT.attemptsMax() - 1 : 0);
  }

  @Test
  void a_refusal_that_is_no_json_is_told_too() throws Exception {
    var reply = failed(serving(refusing(404, "<html><h1>Not\nhere</h1></html>")));

    assertThat(reply.message()).contains("404").contains("Not here").doesNotContain("<");
  }

  @Test
  void a_conversation_that_is_too_long_is_called_so() throws Exception {
    var body =
        "{\"error\":{\"type\":\"invalid_request_error\",\"code\":\"context_length_exceeded\","
            + "\"message\":\"prompt is too long: 9 tokens > 8 maximum\"}}";

    var reply = failed(serving(refusing(400, body)));

    assertThat(reply.message()).startsWith("the conversation is too long for the model");
    assertThat(reply.code()).isEqualTo(ErrorCode.INVALID_INPUT);
  }

  @Test
  void a_quota_that_is_used_up_is_not_tried_again() throws Exception {
    var body =
        "{\"error\":{\"type\":\"insufficient_quota\",\"code\":\"insufficient_quota\","
            + "\"message\":\"pay first\"}}";

    var reply = failed(serving(refusing(429, body)));

    assertThat(reply)
        .isEqualTo(
            new ModelReply.ModelError(
                ErrorCode.RATE_LIMITED, "the account's quota is used up: pay first", false));
  }

  @Test
  void no_message_has_the_key_in_it() throws Exception {
    var body = "{\"error\":{\"message\":\"wrong key " + KEY.value() + " given\"}}";

    var reply = failed(serving(refusing(401, body)));

    assertThat(reply.toString()).contains("wrong key").doesNotContain(KEY.value());
    assertThat(settings().toString()).doesNotContain(KEY.value());
  }

  @Test
  void a_server_that_is_back_is_asked_again() throws Exception {
    var model = serving(refusing(529, BODY), refusing(500, BODY), saying("hello"));

    answered(model, said("go"));

    assertThat(heard.text()).isEqualTo("hello");
    assertThat(waits).hasSize(2);
    assertThat(waits.get(0)).isBetween(Duration.ofMillis(250), Duration.ofMillis(500));
    assertThat(waits.get(1)).isBetween(Duration.ofMillis(500), Duration.ofMillis(1000));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "retry-after: 7 | 7000",
        "retry-after: 1.5 | 1500",
        "retry-after-ms: 2500 | 2500",
        "retry-after: Thu, 01 Jan 2026 00:00:20 GMT | 20000"
      })
  void the_server_says_how_long_to_wait(String header, long millis) throws Exception {
    var model = serving(refusing(429, BODY, header), saying("hello"));

    answered(model, said("go"));

    assertThat(waits).containsExactly(Duration.ofMillis(millis));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "retry-after: soon",
        "retry-after: 0",
        "retry-after: Thu, 01 Jan 2015 00:00:20 GMT",
        "retry-after: -4"
      })
  void a_wait_that_makes_no_sense_is_the_usual_one(String header) throws Exception {
    var model = serving(refusing(429, BODY, header), saying("hello"));

    answered(model, said("go"));

    assertThat(waits.getFirst()).isBetween(Duration.ofMillis(250), Duration.ofMillis(500));
  }

  @Test
  void the_server_says_whether_to_ask_again() throws Exception {
    failed(serving(refusing(503, BODY, "x-should-retry: false")));
    assertThat(server.requests()).hasSize(1);

    answered(serving(refusing(400, BODY, "x-should-retry: true"), saying("hello")), said("go"));
    assertThat(heard.text()).isEqualTo("hello");
  }

  @Test
  void a_wait_that_is_too_long_is_not_made() throws Exception {
    var reply = failed(serving(refusing(429, BODY, "retry-after: 3600")));

    assertThat(reply.retryable()).isTrue();
    assertThat(waits).isEmpty();
  }

  @Test
  void waits_are_bounded_in_all() throws Exception {
    failed(serving(refusing(429, BODY, "retry-after: 25")));

    assertThat(waits).containsExactly(Duration.ofSeconds(25), Duration.ofSeconds(25));
  }

  @Test
  void an_error_at_the_start_of_a_stream_is_retried() throws Exception {
    var model =
        serving(
            FakeModelAnswer.of(new Step.Fail("overloaded_error", "busy")).ending(Ending.CUT),
            saying("hello"));

    answered(model, said("go"));

    assertThat(heard.text()).isEqualTo("hello");
  }

  @ParameterizedTest
  @CsvSource({
    "overloaded_error, MODEL_ERROR, true",
    "server_error, MODEL_ERROR, true",
    "rate_limit_error, RATE_LIMITED, true",
    "authentication_error, AUTH, false",
    "invalid_request_error, INVALID_INPUT, false"
  })
  void an_error_in_a_stream_is_told_and_is_retried_only_if_it_may_pass(
      String type, ErrorCode code, boolean retryable) throws Exception {
    var reply =
        failed(
            serving(
                FakeModelAnswer.of(text("half "), new Step.Fail(type, "because"))
                    .ending(Ending.CUT)));

    assertThat(reply.code()).isEqualTo(code);
    assertThat(reply.retryable()).isEqualTo(retryable);
    assertThat(reply.message()).contains("because");
    assertThat(heard.text()).isEqualTo("half ");
    assertThat(server.requests()).hasSize(retryable ? BOUNDS.attemptsMax() : 1);
    assertThat(waits).hasSize(retryable ? BOUNDS.attemptsMax() - 1 : 0);
    assertThat(heard.retries()).hasSameSizeAs(waits);
  }

  @ParameterizedTest
  @EnumSource(
      value = Ending.class,
      names = {"CUT", "RESET"})
  void an_answer_that_ends_in_the_middle_is_asked_for_again(Ending ending) throws Exception {
    // A reset discards bytes that were not read yet.
    var gate = new CountDownLatch(1);
    var reader =
        Thread.ofVirtual()
            .start(
                () -> {
                  heard.await();
                  gate.countDown();
                });

    answered(
        serving(
            FakeModelAnswer.of(text("half "), new Step.Wait(gate)).ending(ending), saying("whole")),
        said("go"));
    reader.join();

    var modelRetry = heard.retries().getFirst();
    assertThat(modelRetry.code()).isEqualTo(ErrorCode.MODEL_ERROR);
    assertThat(modelRetry.attempt()).isEqualTo(2);
    assertThat(waits).containsExactly(modelRetry.delay());
    assertThat(modelRetry.delay()).isBetween(Duration.ofMillis(250), Duration.ofMillis(500));
    assertThat(heard.text()).isEqualTo("whole");
  }

  @ParameterizedTest
  @EnumSource(
      value = Ending.class,
      names = {"CUT", "RESET"})
  void an_answer_that_ends_before_a_word_is_asked_for_again(Ending ending) throws Exception {
    var model =
        serving(
            FakeModelAnswer.of().ending(ending),
            FakeModelAnswer.of(new Step.Raw("data: {\"type\":")).ending(ending),
            saying("hello"));

    answered(model, said("go"));

    assertThat(heard.text()).isEqualTo("hello");
    assertThat(server.requests()).hasSize(3);
  }

  @Test
  void an_answer_that_is_cut_off_before_any_text_fails_and_its_tokens_count() throws Exception {
    var stop = new Step.Stop(lengthReason());

    var reply = failed(serving(FakeModelAnswer.of(new Step.Used(7, 3, 0, 0), stop)));

    assertThat(reply.code()).isEqualTo(ErrorCode.LIMIT);
    assertThat(reply.message()).contains("before any text").contains("maxTokens");
    assertThat(reply.retryable()).isFalse();
    assertThat(reply.usage()).isNotNull().extracting(Usage::totalTokens).isEqualTo(10L);
    assertThat(server.requests()).hasSize(1);
  }

  @Test
  void broken_json_in_a_stream_is_told() throws Exception {
    var reply =
        failed(
            serving(FakeModelAnswer.of(text("half "), new Step.Raw("data: {\"type\": oops\n\n"))));

    assertThat(reply.code()).isEqualTo(ErrorCode.MODEL_ERROR);
    assertThat(reply.retryable()).isTrue();
    assertThat(reply.message()).contains("not JSON").contains("oops");
  }

  @Test
  void a_page_instead_of_a_stream_is_told() throws Exception {
    var page = refusing(200, "<html>Welcome</html>", "Content-Type: text/html; charset=utf-8");

    var reply = failed(serving(page));

    assertThat(reply.code()).isEqualTo(ErrorCode.MODEL_ERROR);
    assertThat(reply.retryable()).isFalse();
    assertThat(reply.message()).contains("text/html").contains("baseUrl");
  }

  @Test
  void a_huge_line_is_refused() throws Exception {
    serving(FakeModelAnswer.of(new Step.Raw("data: " + "x".repeat(200_000)), text("never")));

    var reply = failed(model(BOUNDS.withSizes(100_000, 1_000_000)));

    assertThat(reply.code()).isEqualTo(ErrorCode.LIMIT);
    assertThat(reply.message()).contains("100000 bytes");
  }

  @Test
  void an_endless_answer_is_refused() throws Exception {
    var comments = (": " + "x".repeat(1000) + "\n\n").repeat(200);
    serving(FakeModelAnswer.of(new Step.Raw(comments), text("never")));

    var reply = failed(model(BOUNDS.withSizes(100_000, 150_000)));

    assertThat(reply.code()).isEqualTo(ErrorCode.LIMIT);
  }

  @Test
  void a_server_that_is_not_there_is_told_and_tried_again() throws Exception {
    serving(saying("x"));
    var model = model(BOUNDS);
    server.close();

    var reply = failed(model);

    assertThat(reply.code()).isEqualTo(ErrorCode.MODEL_ERROR);
    assertThat(reply.retryable()).isTrue();
    assertThat(reply.message()).isEqualTo("cannot reach " + server.url().getAuthority());
    assertThat(waits).hasSize(4);
  }

  @Test
  void a_host_that_does_not_exist_is_told() throws Exception {
    var nowhere = URI.create("http://nowhere.invalid");

    var reply = failed(model(new ModelSettings(modelName(), nowhere, null, null, 0, null), BOUNDS));

    assertThat(reply.message()).isEqualTo("cannot reach nowhere.invalid");
  }

  @Test
  void a_server_that_never_begins_is_given_up() throws Throwable {
    serving(FakeModelAnswer.of().ending(Ending.HOLD));

    var reply = timedOut(() -> assertThat(server.awaitRequest(PATIENCE)).isTrue());

    assertThat(reply.code()).isEqualTo(ErrorCode.TIMEOUT);
    assertThat(reply.retryable()).isTrue();
    assertThat(server.requests()).hasSize(1);
  }

  @Test
  void a_server_that_falls_silent_is_given_up() throws Throwable {
    serving(saying("half ").ending(Ending.HOLD));

    var reply = timedOut(heard::await);

    assertThat(reply.code()).isEqualTo(ErrorCode.TIMEOUT);
    assertThat(reply.message()).contains("for 20 s");
    assertThat(heard.text()).isEqualTo("half ");
  }

  /// The failure of a model whose time runs out after the server has come so far. The model has
  /// closed the connection.
  private ModelReply.ModelError timedOut(Executable begun) throws Throwable {
    var time = new ManualTime();
    try (var connections = new OutgoingHttpClient(time, new SystemThreads())) {
      var model = model(connections, settings(), BOUNDS, sources(time));
      var reply = ManualTime.start("asking", () -> failed(model));
      begun.execute();
      var error = time.advanceUntil(reply, "asking");
      assertThat(server.awaitDisconnect(PATIENCE)).isTrue();
      return error;
    }
  }

  @Test
  void an_interrupt_closes_the_connection_at_once() throws Exception {
    var model = serving(saying("half ").ending(Ending.HOLD));
    var ended = new ArrayBlockingQueue<String>(1);
    var asking = Thread.ofVirtual().start(() -> ended.add(ask(model)));
    heard.await();

    asking.interrupt();

    assertThat(server.awaitDisconnect(PATIENCE)).isTrue();
    assertThat(ended.poll(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isEqualTo("interrupted");
  }

  @Test
  void an_interrupt_before_the_first_word_closes_the_connection_too() throws Exception {
    var model = serving(FakeModelAnswer.of().ending(Ending.HOLD));
    var ended = new ArrayBlockingQueue<String>(1);
    var asking = Thread.ofVirtual().start(() -> ended.add(ask(model)));
    assertThat(server.awaitRequest(PATIENCE)).isTrue();

    asking.interrupt();

    assertThat(server.awaitDisconnect(PATIENCE)).isTrue();
    assertThat(ended.poll(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isEqualTo("interrupted");
  }

  @Test
  void a_sink_that_refuses_ends_the_question_and_closes_the_connection() throws Exception {
    var model = serving(saying("half ").ending(Ending.HOLD));
    var refusing =
        new ModelSink() {
          @Override
          public void text(String piece) {
            throw new IllegalStateException("full");
          }

          @Override
          public void thinking(String piece) {}

          @Override
          public void thought(ModelThought modelThought) {}

          @Override
          public void retry(ModelRetry modelRetry) {}
        };

    assertThatThrownBy(() -> model.ask(prompt(said("go")), refusing)).hasMessage("full");

    assertThat(server.awaitDisconnect(PATIENCE)).isTrue();
  }

  private String ask(Model model) {
    try {
      return "answered " + model.ask(prompt(said("go")), heard);
    } catch (InterruptedException stopped) {
      return "interrupted";
    }
  }
}
