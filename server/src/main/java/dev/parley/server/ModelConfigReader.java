package dev.parley.server;

import static dev.parley.server.ConfigFile.or;
import static dev.parley.server.ConfigProblem.invalid;
import static dev.parley.server.ConfigProblem.invalidKey;

import dev.parley.model.AnthropicModel;
import dev.parley.model.ModelLimits;
import dev.parley.model.ModelSettings;
import dev.parley.model.ModelSettings.ApiKey;
import dev.parley.model.ModelSettings.Prices;
import dev.parley.model.OpenAiModel;
import dev.parley.model.OpenAiModel.OpenAiApi;
import dev.parley.server.ConfigFile.ModelSection;
import dev.parley.server.ConfigFile.PriceSection;
import java.math.BigDecimal;
import java.net.URI;
import java.net.URISyntaxException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// Reads `models`, or finds a model in the environment if there is none.
final class ModelConfigReader {

  /// The name of the default model.
  static final String STANDARD = "default";

  private static final int THINKING_MIN = 1_024;
  private static final Duration TIMEOUT_MAX = Duration.ofHours(24);
  private static final ModelSection NOTHING =
      new ModelSection(null, null, null, null, null, null, null, null, null);

  /// The remote providers.
  private enum Provider {
    ANTHROPIC(AnthropicModel.BASE_URL, AnthropicModel.MODEL),
    OPENAI(OpenAiModel.BASE_URL, OpenAiModel.MODEL);

    private final String baseUrl;
    private final String model;

    Provider(String baseUrl, String model) {
      this.baseUrl = baseUrl;
      this.model = model;
    }

    String variable(String name) {
      return name() + name;
    }
  }

  private final Map<String, String> environment;
  private final List<ModelConfig.Provided> provided;
  private final List<String> providers;

  /// @param provided the models of the program, of which the first is the default
  ModelConfigReader(Map<String, String> environment, List<ModelConfig.Provided> provided) {
    this.environment = Map.copyOf(environment);
    this.provided = List.copyOf(provided);
    this.providers =
        Stream.concat(
                Stream.of("anthropic", "openai"),
                provided.stream().map(ModelConfig.Provided::provider))
            .toList();
  }

  /// Reads the models by name. Errors are collected, and defaults replace the values.
  Map<String, ModelConfig> read(
      @Nullable Map<String, @Nullable ModelSection> sections, ConfigProblems problems) {
    var models = new LinkedHashMap<String, ModelConfig>();
    if (sections != null) {
      sections.forEach(
          (name, section) ->
              models.put(
                  name,
                  model(section == null ? NOTHING : section, problems.under("models." + name))));
    }
    if (models.isEmpty()) {
      models.put(STANDARD, standard(problems.under("the environment")));
    }
    return models;
  }

  /// Returns a model of the first provider with an API key in the environment, or else the first
  /// model of the program.
  private ModelConfig standard(ConfigProblems problems) {
    for (var provider : Provider.values()) {
      if (variable(provider, "_API_KEY") != null || variable(provider, "_BASE_URL") != null) {
        return remote(provider, NOTHING, problems);
      }
    }
    return provided.isEmpty() ? new ModelConfig.Missing() : provided.getFirst();
  }

  /// Reports that an agent needs a model and the server has none.
  static ConfigProblem noModel(String path) {
    return invalid(
        path,
        "no model is configured; configure models, or set ANTHROPIC_API_KEY or OPENAI_API_KEY");
  }

  private ModelConfig model(ModelSection section, ConfigProblems problems) {
    switch (section.provider()) {
      case "anthropic" -> {
        return remote(Provider.ANTHROPIC, section, problems);
      }
      case "openai" -> {
        return remote(Provider.OPENAI, section, problems);
      }
      case null -> {
        problems.add(invalid("", "needs provider: " + String.join(", ", providers)), "provider");
        checkCommon(section, problems);
      }
      default -> {
        var named =
            provided.stream()
                .filter(model -> model.provider().equals(section.provider()))
                .findFirst();
        if (named.isPresent()) {
          rejectKeys(section, named.get(), problems);
          return named.get();
        }
        problems.add(ConfigProblem.notOneOf("provider", section.provider(), providers));
        checkCommon(section, problems);
      }
    }
    return new ModelConfig.Missing();
  }

  private static void rejectKeys(
      ModelSection section, ModelConfig.Provided model, ConfigProblems problems) {
    for (var key : ConfigFile.keys(section)) {
      if (!key.equals("provider")) {
        problems.add(invalidKey(key, "is not allowed with provider " + model.provider()));
      }
    }
  }

  /// Checks the keys that mean the same for every remote provider.
  private static void checkCommon(ModelSection section, ConfigProblems problems) {
    var url = section.baseUrl();
    if (url != null) {
      problems.collect(() -> url(url));
    }
    positive("maxTokens", section.maxTokens(), problems);
    prices(section.prices(), problems.under("prices"));
    timeout(section.timeout(), problems);
  }

  private ModelConfig remote(Provider provider, ModelSection section, ConfigProblems problems) {
    var url = or(section.baseUrl(), variable(provider, "_BASE_URL"));
    var settings =
        new ModelSettings(
            or(blankAsNull(section.model()), provider.model),
            problems.collectOr(URI.create(provider.baseUrl), () -> url(or(url, provider.baseUrl))),
            key(provider, section, url != null, problems),
            positive("maxTokens", section.maxTokens(), problems),
            thinking(provider, section, problems),
            prices(section.prices(), problems.under("prices")));
    var modelLimits = timeout(section.timeout(), problems);
    return switch (provider) {
      case ANTHROPIC -> {
        if (section.api() != null) {
          problems.add(invalid("api", "needs provider openai"));
        }
        yield new ModelConfig.Anthropic(settings, modelLimits);
      }
      case OPENAI ->
          new ModelConfig.OpenAi(
              problems.collectOr(OpenAiApi.CHAT, () -> api(section.api())), settings, modelLimits);
    };
  }

  /// Returns the key in the configuration or in the environment. It is optional only for the
  /// operator's own server.
  private @Nullable ApiKey key(
      Provider provider, ModelSection section, boolean ownServer, ConfigProblems problems) {
    var text = or(blankAsNull(section.apiKey()), variable(provider, "_API_KEY"));
    if (text == null && !ownServer) {
      problems.add(
          invalid(
              "",
              "needs an apiKey, or the environment variable "
                  + provider.variable("_API_KEY")
                  + ", or apiKey: none"),
          "apiKey",
          "baseUrl");
    }
    if (text == null || text.equals("none")) {
      return null;
    }
    try {
      return new ApiKey(text.strip());
    } catch (IllegalArgumentException unusable) {
      problems.add(
          invalid("apiKey", "is not a valid key: it contains spaces or characters beyond ASCII"));
      return null;
    }
  }

  private static URI url(String text) {
    try {
      var url = new URI(text.strip());
      if (url.getHost() != null
          && url.getRawUserInfo() == null
          && url.getRawFragment() == null
          && Set.of("http", "https").contains(String.valueOf(url.getScheme()))) {
        return url;
      }
    } catch (URISyntaxException malformed) {
      // Rejected below.
    }
    throw invalid("baseUrl", "must be like https://host or http://host:port/v1");
  }

  private static OpenAiApi api(@Nullable String text) {
    return switch (text) {
      case null -> OpenAiApi.CHAT;
      case "chat" -> OpenAiApi.CHAT;
      case "responses" -> OpenAiApi.RESPONSES;
      default -> throw ConfigProblem.notOneOf("api", text, List.of("chat", "responses"));
    };
  }

  private static int thinking(Provider provider, ModelSection section, ConfigProblems problems) {
    var tokens = or(section.thinking(), 0);
    var least = provider == Provider.ANTHROPIC ? THINKING_MIN : 1;
    if (tokens != 0 && tokens < least) {
      problems.add(invalid("thinking", "must be 0, or at least " + least + " tokens"));
      return 0;
    }
    var max = section.maxTokens();
    if (tokens != 0 && max != null && max >= 1 && max <= tokens) {
      problems.add(invalid("maxTokens", "must be more than thinking, which is part of it"));
    }
    return tokens;
  }

  private static @Nullable Prices prices(@Nullable PriceSection section, ConfigProblems problems) {
    if (section == null) {
      return null;
    }
    checkPrice("input", section.input(), problems);
    checkPrice("output", section.output(), problems);
    checkPrice("cacheWrite", section.cacheWrite(), problems);
    checkPrice("cacheRead", section.cacheRead(), problems);
    if (section.input() == null || section.output() == null) {
      problems.add(
          invalid("", "needs input and output, in US dollars per million tokens"),
          "input",
          "output");
      return null;
    }
    return new Prices(section.input(), section.output(), section.cacheWrite(), section.cacheRead());
  }

  private static void checkPrice(String key, @Nullable BigDecimal price, ConfigProblems problems) {
    if (price != null && (price.signum() < 0 || price.precision() > 20)) {
      problems.add(invalid(key, "a price must not be negative"));
    }
  }

  private static ModelLimits timeout(@Nullable Duration timeout, ConfigProblems problems) {
    if (timeout == null) {
      return ModelLimits.DEFAULT;
    }
    if (timeout.toMillis() < 1 || timeout.compareTo(TIMEOUT_MAX) > 0) {
      problems.add(invalid("timeout", "must be between 1ms and 24h"));
      return ModelLimits.DEFAULT;
    }
    return ModelLimits.DEFAULT.withTimeout(timeout);
  }

  private static @Nullable Integer positive(
      String key, @Nullable Integer number, ConfigProblems problems) {
    if (number != null && number < 1) {
      problems.add(invalid(key, "must be at least 1; found " + number));
    }
    return number;
  }

  private @Nullable String variable(Provider provider, String name) {
    return blankAsNull(environment.get(provider.variable(name)));
  }

  private static @Nullable String blankAsNull(@Nullable String text) {
    return text == null || text.isBlank() ? null : text;
  }
}
