package dev.parley.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.model.ModelLimits;
import dev.parley.model.ModelSettings;
import dev.parley.model.OpenAiModel.OpenAiApi;
import dev.parley.protocol.Rejection;
import java.io.IOException;
import java.math.BigDecimal;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ModelConfigTest {

  @TempDir Path folder;

  @Test
  void everything_about_a_model_can_be_said() throws Exception {
    var model =
        (ModelConfig.OpenAi)
            model(
                """
                models:
                  m: {provider: openai, model: qwen3, baseUrl: "http://127.0.0.1:11434/v1", apiKey: "${MY_KEY}",
                      api: responses, maxTokens: 5000, thinking: 2000, timeout: 90s,
                      prices: {input: 3, output: 15.25, cacheWrite: 3.75, cacheRead: 0.3}}
                """,
                Map.of("MY_KEY", "sk-1", "OPENAI_API_KEY", "sk-2"));

    var settings = model.settings();
    assertThat(model.api()).isEqualTo(OpenAiApi.RESPONSES);
    assertThat(settings.model()).isEqualTo("qwen3");
    assertThat(settings.baseUrl()).isEqualTo(URI.create("http://127.0.0.1:11434/v1"));
    assertThat(key(settings)).isEqualTo("sk-1");
    assertThat(settings.maxTokens()).isEqualTo(5000);
    assertThat(settings.thinkingTokens()).isEqualTo(2000);
    assertThat(settings.prices().output()).isEqualByComparingTo(new BigDecimal("15.25"));
    assertThat(settings.prices().cacheRead()).isEqualByComparingTo("0.3");
    assertThat(model.bounds().silence()).isEqualTo(Duration.ofSeconds(90));
    assertThat(model.title()).isEqualTo("qwen3 at 127.0.0.1:11434");
  }

  @Test
  void a_provider_and_a_key_are_enough() throws Exception {
    var yaml = "models: {m: {provider: anthropic, apiKey: sk-1}}";
    var model = (ModelConfig.Anthropic) model(yaml, Map.of());

    assertThat(model.settings().model()).isEqualTo("claude-sonnet-4-5");
    assertThat(model.settings().baseUrl()).isEqualTo(URI.create("https://api.anthropic.com"));
    assertThat(model.bounds()).isEqualTo(ModelLimits.DEFAULT);
    assertThat(model.settings().prices()).isNull();
  }

  @Test
  void what_is_not_written_comes_from_the_environment() throws Exception {
    var environment =
        Map.of("OPENAI_API_KEY", "sk-env", "OPENAI_BASE_URL", "http://gateway.example/v1");

    var bare = openAi("models: {m: {provider: openai}}", environment);
    assertThat(key(bare)).isEqualTo("sk-env");
    assertThat(bare.baseUrl().getHost()).isEqualTo("gateway.example");

    var own =
        openAi(
            "models: {m: {provider: openai, apiKey: mine, baseUrl: 'http://own.example'}}",
            environment);
    assertThat(key(own)).isEqualTo("mine");
    assertThat(own.baseUrl().getHost()).isEqualTo("own.example");

    var without = openAi("models: {m: {provider: openai, apiKey: none}}", environment);
    assertThat(without.apiKey()).isNull();
  }

  @Test
  void a_server_of_ones_own_needs_no_key() throws Exception {
    var settings =
        openAi("models: {m: {provider: openai, baseUrl: 'http://127.0.0.1:8080'}}", Map.of());

    assertThat(settings.apiKey()).isNull();
  }

  @ParameterizedTest
  @CsvSource({
    "'', '', '', '', offline",
    "k, '', '', '', claude-sonnet-4-5 at api.anthropic.com",
    "'', 'http://a.example', '', '', claude-sonnet-4-5 at a.example",
    "'', '', k, '', gpt-5 at api.openai.com",
    "'', '', '', 'http://127.0.0.1:1/v1', gpt-5 at 127.0.0.1:1",
    "k, '', k, '', claude-sonnet-4-5 at api.anthropic.com",
    "' ', '', k, '', gpt-5 at api.openai.com"
  })
  void without_models_the_environment_decides(
      String anthropicKey, String anthropicUrl, String openAiKey, String openAiUrl, String title) {
    var environment =
        Map.of(
            "ANTHROPIC_API_KEY", anthropicKey,
            "ANTHROPIC_BASE_URL", anthropicUrl,
            "OPENAI_API_KEY", openAiKey,
            "OPENAI_BASE_URL", openAiUrl);

    var config =
        Config.load(
            null, new Config.ProcessEnvironment(environment, folder, folder), TestServer.MODULES);

    assertThat(config.models().get("default").title()).contains(title);
    assertThat(config.agents().getFirst().model()).isEqualTo("default");
  }

  @Test
  void models_that_are_written_beat_the_environment() throws Exception {
    var yaml = "models: {m: {provider: offline}}";

    assertThat(model(yaml, Map.of("ANTHROPIC_API_KEY", "k")))
        .isInstanceOf(ModelConfig.Provided.class);
  }

  @Test
  void no_key_is_shown_by_what_holds_it() throws Exception {
    var config = load("models: {m: {provider: openai, apiKey: sk-secret}}", Map.of());

    assertThat(config.toString()).contains("gpt-5").doesNotContain("sk-secret");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{provider: magic} | models.m.provider: must be one of anthropic, openai, offline",
        "{model: x} | models.m: needs provider",
        "{provider: anthropic} | ANTHROPIC_API_KEY",
        "{provider: openai} | OPENAI_API_KEY",
        "{provider: openai, apiKey: 'a b'} | is not a valid key",
        "{provider: openai, apiKey: k, baseUrl: 'host:80'} | baseUrl: must be like",
        "{provider: openai, apiKey: k, baseUrl: 'http://u:p@host'} | baseUrl: must be like",
        "{provider: openai, apiKey: k, baseUrl: 'ftp://host'} | baseUrl: must be like",
        "{provider: openai, apiKey: k, api: both} | api: must be one of chat, responses",
        "{provider: anthropic, apiKey: k, api: chat} | api: needs provider openai",
        "{provider: openai, apiKey: k, maxTokens: 0} | maxTokens: must be at least 1",
        "{provider: anthropic, apiKey: k, thinking: 5} | at least 1024",
        "{provider: openai, apiKey: k, thinking: -1} | thinking: must be 0",
        "{provider: anthropic, apiKey: k, thinking: 2000, maxTokens: 2000} | more than thinking",
        "{provider: openai, apiKey: k, prices: {input: 1}} | needs input and output",
        "{provider: openai, apiKey: k, prices: {input: -1, output: 1}} | prices.input: a price must"
            + " not be negative",
        "{provider: openai, apiKey: k, prices: {input: x, output: 1}} | models.m.prices.input: must"
            + " be a number; found \"x\"",
        "{provider: openai, apiKey: k, prices: {in: 1}} | models.m.prices.in: unknown key",
        "{provider: openai, apiKey: k, timeout: 0} | timeout: must be between",
        "{provider: openai, apiKey: '${NOPE}'} | NOPE"
      })
  void what_cannot_be_used_is_refused_with_a_reason(String section, String reason) {
    assertThatThrownBy(() -> load("models: {m: " + section + "}", Map.of()))
        .isInstanceOf(Rejection.Invalid.class)
        .hasMessageContaining(reason);
  }

  private static String key(ModelSettings settings) {
    var key = settings.apiKey();
    return key == null ? "" : key.value();
  }

  private ModelSettings openAi(String yaml, Map<String, String> environment) throws IOException {
    return ((ModelConfig.OpenAi) model(yaml, environment)).settings();
  }

  private ModelConfig model(String yaml, Map<String, String> environment) throws IOException {
    return load(yaml, environment).models().get("m");
  }

  private Config load(String yaml, Map<String, String> environment) throws IOException {
    var file = Files.writeString(folder.resolve("parley.yaml"), yaml);
    return Config.load(
        file, new Config.ProcessEnvironment(environment, folder, folder), TestServer.MODULES);
  }
}
