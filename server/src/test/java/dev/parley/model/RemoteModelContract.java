package dev.parley.model;

import static dev.parley.model.FakeModelAnswer.call;
import static dev.parley.model.FakeModelAnswer.saying;
import static dev.parley.model.FakeModelAnswer.text;
import static dev.parley.model.FakeModelAnswer.thinking;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.model.FakeModelAnswer.Ending;
import dev.parley.model.FakeModelAnswer.Step;
import dev.parley.model.ModelSettings.ApiKey;
import dev.parley.model.ModelSettings.Prices;
import dev.parley.model.Prompt.PromptPart;
import dev.parley.net.OutgoingHttpClient;
import dev.parley.protocol.ContentEvent.FinishReason;
import dev.parley.protocol.ContentEvent.ToolCall;
import dev.parley.protocol.Json;
import dev.parley.protocol.ToolCallId;
import dev.parley.runtime.RecordingTime;
import dev.parley.runtime.SystemThreads;
import dev.parley.runtime.Time;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// The behavior of every remote model.
abstract class RemoteModelContract extends ModelContract {

  static final Instant NOW = Instant.parse("2026-01-01T00:00:00Z");
  static final ApiKey KEY = new ApiKey("sk-secret-123");
  static final Duration PATIENCE = Duration.ofSeconds(20);
  static final ModelLimits BOUNDS = ModelLimits.DEFAULT.withTimeout(PATIENCE);

  private final RecordingTime time = new RecordingTime(() -> NOW);
  private final OutgoingHttpClient http = new OutgoingHttpClient(time, new SystemThreads());
  private final AtomicInteger ids = new AtomicInteger();
  final List<Duration> waits = time.sleeps();
  final CollectingSink heard = new CollectingSink();
  FakeModelServer server = FakeModelServer.scripted(saying("hello"));

  /// Returns the model to test, with these settings.
  abstract Model model(
      OutgoingHttpClient connections,
      ModelSettings settings,
      ModelLimits modelLimits,
      ModelSources sources);

  /// Returns a typical model name of this API.
  abstract String modelName();

  /// Returns this API's stop reason for the token limit.
  abstract String lengthReason();

  @AfterEach
  void close() {
    server.close();
    http.close();
  }

  /// Returns a model whose server sends these answers, one after the other.
  Model serving(FakeModelAnswer... answers) {
    server.close();
    server = FakeModelServer.scripted(answers);
    return model(BOUNDS);
  }

  Model model(ModelLimits modelLimits) {
    return model(settings(), modelLimits);
  }

  Model model(ModelSettings settings, ModelLimits modelLimits) {
    return model(http, settings, modelLimits, sources(time));
  }

  ModelSources sources(Time anyTime) {
    return new ModelSources(anyTime, new Random(1), () -> "new-" + ids.incrementAndGet());
  }

  ModelSettings settings() {
    return new ModelSettings(modelName(), server.url(), KEY, null, 0, null);
  }

  ModelReply.ModelAnswer answered(Model model, PromptPart... parts) throws InterruptedException {
    var modelReply = model.ask(prompt(parts), heard);
    assertThat(modelReply).isInstanceOf(ModelReply.ModelAnswer.class);
    return (ModelReply.ModelAnswer) modelReply;
  }

  @Override
  Model cooperative() {
    server.close();
    server =
        FakeModelServer.answering(
            receivedRequest -> {
              if (receivedRequest.afterCall()) {
                return saying("It is ", "2", ".");
              }
              return switch (receivedRequest.lastText()) {
                case "calculate 1+1" ->
                    FakeModelAnswer.calling("call_1", "calculator", "{\"expression\":\"1+1\"}");
                case "count slowly to 1000" -> saying("1 ", "2 ").ending(Ending.HOLD);
                default -> saying("1 ", "2 ", "3");
              };
            });
    return model(BOUNDS);
  }

  @Test
  void thinking_goes_where_thoughts_go() throws Exception {
    var model = serving(FakeModelAnswer.of(thinking("sig", "Let me ", "see."), text("Done.")));

    var reply = answered(model, said("think"));

    assertThat(heard.thoughts()).isEqualTo("Let me see.");
    assertThat(heard.text()).isEqualTo("Done.");
    assertThat(reply.reason()).isEqualTo(FinishReason.STOP);
  }

  @Test
  void arguments_come_in_pieces_and_calls_side_by_side() throws Exception {
    var model =
        serving(
            FakeModelAnswer.of(
                text("Looking."),
                call("call_a", "calculator", "{\"expr", "ession\": \"1+", "1\"}"),
                call("call_b", "clock"),
                call("call_c", "clock", "{", "}")));

    var reply = answered(model, said("calculate"));

    assertThat(reply.reason()).isEqualTo(FinishReason.TOOL_CALLS);
    assertThat(reply.calls())
        .containsExactly(
            new ToolCall(
                new ToolCallId("call_a"), "calculator", Json.object().put("expression", "1+1")),
            new ToolCall(new ToolCallId("call_b"), "clock", Json.object()),
            new ToolCall(new ToolCallId("call_c"), "clock", Json.object()));
  }

  @Test
  void ids_of_calls_that_are_missing_double_or_strange_are_replaced() throws Exception {
    var model =
        serving(
            FakeModelAnswer.of(
                call("same", "clock", "{}"),
                call("same", "clock", "{}"),
                call("", "clock", "{}"),
                call("with space", "clock", "{}")));

    var reply = answered(model, said("go"));

    assertThat(reply.calls())
        .extracting(made -> made.id().value())
        .containsExactly("same", "new-1", "new-2", "new-3");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {"{\"a\": ", "[1]", "\"text\"", "{\"a\":1} and so on", "null", "{\"a\":1,\"a\":2}"})
  void arguments_that_are_no_json_object_make_a_call_that_says_so(String broken) throws Exception {
    var model = serving(FakeModelAnswer.of(call("call_a", "calculator", broken)));

    var reply = answered(model, said("go"));

    var arguments = reply.calls().getFirst().arguments();
    assertThat(ToolArguments.problem(arguments)).get().asString().contains("JSON");
    assertThat(ToolArguments.problem(Json.object().put("a", 1))).isEmpty();
  }

  @Test
  void an_answer_that_is_cut_off_says_so() throws Exception {
    var model =
        serving(
            FakeModelAnswer.of(
                text("too lo"), call("c", "clock", "{\"a\""), new Step.Stop(lengthReason())));

    var reply = answered(model, said("go"));

    assertThat(reply.reason()).isEqualTo(FinishReason.LENGTH);
    assertThat(ToolArguments.problem(reply.calls().getFirst().arguments())).isPresent();
  }

  @Test
  void tokens_from_the_cache_are_counted_apart_and_all_are_paid_for() throws Exception {
    serving(FakeModelAnswer.of(text("x"), new Step.Used(1_000, 500, 0, 4_000)));
    var prices =
        new Prices(new BigDecimal("3"), new BigDecimal("15"), null, new BigDecimal("0.30"));
    var model = model(new ModelSettings(modelName(), server.url(), KEY, null, 0, prices), BOUNDS);

    var usage = answered(model, said("go")).usage();

    assertThat(usage.inputTokens()).isEqualTo(1_000);
    assertThat(usage.outputTokens()).isEqualTo(500);
    assertThat(usage.cacheReadInputTokens()).isEqualTo(4_000);
    // 0.003 + 0.0075 + 0.0012
    assertThat(usage.costUsd()).isEqualByComparingTo("0.0117");
  }

  @Test
  void without_prices_there_is_no_cost() throws Exception {
    assertThat(answered(serving(saying("x")), said("go")).usage().costUsd()).isNull();
  }

  @ParameterizedTest
  @CsvSource({"1, LF", "1, CRLF", "1, CR", "3, CRLF", "7, LF"})
  void bytes_may_be_cut_anywhere(int bytes, String newline) throws Exception {
    var ends = newline.replace("CR", "\r").replace("LF", "\n");
    var model =
        serving(
            FakeModelAnswer.of(
                    thinking("s", "Ümläute, "),
                    text("naïve ", "日本語 ", "🙂"),
                    call("c", "clock", "{\"a\":\"🙂", "é\"}"))
                .chopped(bytes, ends));

    var reply = answered(model, said("go"));

    assertThat(heard.thoughts()).isEqualTo("Ümläute, ");
    assertThat(heard.text()).isEqualTo("naïve 日本語 🙂");
    assertThat(reply.calls().getFirst().arguments().path("a").asString()).isEqualTo("🙂é");
  }

  @Test
  void a_character_may_be_cut_in_two_by_escapes() throws Exception {
    var model = serving(FakeModelAnswer.of(text("a\ud83d", "\ude42b", "\ud83d", "lost")));

    answered(model, said("go"));

    assertThat(heard.text()).isEqualTo("a🙂b\ufffdlost");
  }

  @Test
  void what_is_not_known_does_not_matter() throws Exception {
    var model =
        serving(
            FakeModelAnswer.of(
                new Step.Raw(": a comment\n\n\n\nid: 7\nretry: 100\n\n"),
                new Step.Raw("event: ping\ndata: {\"type\": \"ping\"}\n\n"),
                new Step.Raw(
                    "event: novel\nfoo: bar\ndata: {\"type\":\"novel\",\ndata: \"x\":1}\n\n"),
                text("fine")));

    answered(model, said("go"));

    assertThat(heard.text()).isEqualTo("fine");
  }

  @Test
  void pieces_are_handed_on_before_the_answer_is_over() throws Exception {
    var gate = new CountDownLatch(1);
    var model = serving(FakeModelAnswer.of(text("first "), new Step.Wait(gate), text("second")));
    var asking =
        Thread.ofVirtual()
            .start(
                () -> {
                  try {
                    model.ask(prompt(said("go")), heard);
                  } catch (InterruptedException never) {
                    throw new IllegalStateException(never);
                  }
                });

    heard.await();
    assertThat(heard.text()).isEqualTo("first ");
    gate.countDown();
    asking.join();

    assertThat(heard.text()).isEqualTo("first second");
  }

  @Test
  void the_key_is_shown_to_the_server_unless_there_is_none() throws Exception {
    answered(serving(saying("x")), said("go"));
    assertThat(server.lastRequest().headers().toString()).contains(KEY.value());

    var keyless = model(new ModelSettings(modelName(), server.url(), null, null, 0, null), BOUNDS);
    answered(keyless, said("go"));

    var headers = server.lastRequest().headers();
    assertThat(headers).doesNotContainKeys("authorization", "x-api-key");
  }
}
