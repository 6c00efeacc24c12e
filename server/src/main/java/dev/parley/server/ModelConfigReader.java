package dev.parley.server;

import static dev.parley.server.ConfigProblem.invalid;

import dev.parley.model.AnthropicModel;
import dev.parley.model.ApiKey;
import dev.parley.model.ModelLimits;
import dev.parley.model.ModelSettings;
import dev.parley.model.OpenAiModel;
import dev.parley.model.OpenAiModel.OpenAiApi;
import dev.parley.model.Prices;
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

  private static final List<String> PROVIDERS = List.of("anthropic", "openai", "offline");

  private final Map<String, String> environment;

  ModelConfigReader(Map<String, String> environment) {
    this.environment = Map.copyOf(environment);
  }

  /// Reads the models by name. The error of a model is collected, and the offline model replaces
  /// it.
  Map<String, ModelConfig> read(
      @Nullable Map<String, @Nullable ModelSection> sections, ConfigProblems problems) {
    var models = new LinkedHashMap<String, ModelConfig>();
    if (sections != null) {
      sections.forEach(
          (name, section) -> {
            var model =
                problems.collect(
                    () -> model("models." + name, section == null ? NOTHING : section));
            models.put(name, model == null ? new ModelConfig.Offline() : model);
          });
    }
    if (models.isEmpty()) {
      models.put(STANDARD, standard());
    }
    return models;
  }

  /// Returns a model of the first provider with an API key in the environment, or else the offline
  /// model.
  private ModelConfig standard() {
    for (var provider : Provider.values()) {
      if (variable(provider, "_API_KEY") != null || variable(provider, "_BASE_URL") != null) {
        return remote("the environment", provider, NOTHING);
      }
    }
    return new ModelConfig.Offline();
  }

  private ModelConfig model(String where, ModelSection section) {
    return switch (section.provider()) {
      case "offline" -> new ModelConfig.Offline();
      case "anthropic" -> remote(where, Provider.ANTHROPIC, section);
      case "openai" -> remote(where, Provider.OPENAI, section);
      case null, default ->
          throw section.provider() == null
              ? invalid(where, "needs provider: " + String.join(", ", PROVIDERS))
              : ConfigProblem.notOneOf(where + ".provider", section.provider(), PROVIDERS);
    };
  }

  private ModelConfig remote(String where, Provider provider, ModelSection section) {
    var url = or(section.baseUrl(), variable(provider, "_BASE_URL"));
    var settings =
        new ModelSettings(
            or(blankAsNull(section.model()), provider.model),
            url(where, or(url, provider.baseUrl)),
            key(where, provider, section, url != null),
            positive(where + ".maxTokens", section.maxTokens()),
            thinking(where, provider, section),
            prices(where + ".prices", section.prices()));
    var modelLimits =
        section.timeout() == null
            ? ModelLimits.DEFAULT
            : ModelLimits.DEFAULT.withTimeout(timeout(where, section.timeout()));
    return switch (provider) {
      case ANTHROPIC -> {
        if (section.api() != null) {
          throw invalid(where + ".api", "needs provider openai");
        }
        yield new ModelConfig.Anthropic(settings, modelLimits);
      }
      case OPENAI -> new ModelConfig.OpenAi(api(where, section.api()), settings, modelLimits);
    };
  }

  /// Returns the key in the configuration or in the environment. It is optional only for the
  /// operator's own server.
  private @Nullable ApiKey key(
      String where, Provider provider, ModelSection section, boolean ownServer) {
    var text = or(blankAsNull(section.apiKey()), variable(provider, "_API_KEY"));
    if (text == null && !ownServer) {
      throw invalid(
          where,
          "needs an apiKey, or the environment variable "
              + provider.variable("_API_KEY")
              + ", or apiKey: none");
    }
    if (text == null || text.equals("none")) {
      return null;
    }
    try {
      return new ApiKey(text.strip());
    } catch (IllegalArgumentException unusable) {
      throw invalid(
          where + ".apiKey", "is not a valid key: it contains spaces or characters beyond ASCII");
    }
  }

  private static URI url(String where, String text) {
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
    throw invalid(where + ".baseUrl", "must be like https://host or http://host:port/v1");
  }

  private static OpenAiApi api(String where, @Nullable String text) {
    return switch (text) {
      case null -> OpenAiApi.CHAT;
      case "chat" -> OpenAiApi.CHAT;
      case "responses" -> OpenAiApi.RESPONSES;
      default -> throw ConfigProblem.notOneOf(where + ".api", text, List.of("chat", "responses"));
    };
  }

  private static int thinking(String where, Provider provider, ModelSection section) {
    var tokens = or(section.thinking(), 0);
    var least = provider == Provider.ANTHROPIC ? THINKING_MIN : 1;
    if (tokens != 0 && tokens < least) {
      throw invalid(where + ".thinking", "must be 0, or at least " + least + " tokens");
    }
    if (tokens != 0 && section.maxTokens() != null && section.maxTokens() <= tokens) {
      throw invalid(where + ".maxTokens", "must be more than thinking, which is part of it");
    }
    return tokens;
  }

  private static @Nullable Prices prices(String where, @Nullable PriceSection section) {
    if (section == null) {
      return null;
    }
    if (section.input() == null || section.output() == null) {
      throw invalid(where, "needs input and output, in US dollars per million tokens");
    }
    for (var price :
        new @Nullable BigDecimal[] {
          section.input(), section.output(), section.cacheWrite(), section.cacheRead()
        }) {
      if (price != null && (price.signum() < 0 || price.precision() > 20)) {
        throw invalid(where, "a price must not be negative");
      }
    }
    return new Prices(section.input(), section.output(), section.cacheWrite(), section.cacheRead());
  }

  private static Duration timeout(String where, Duration timeout) {
    if (timeout.toMillis() < 1 || timeout.compareTo(TIMEOUT_MAX) > 0) {
      throw invalid(where + ".timeout", "must be between 1ms and 24h");
    }
    return timeout;
  }

  private static @Nullable Integer positive(String where, @Nullable Integer number) {
    if (number != null && number < 1) {
      throw invalid(where, "must be at least 1; found " + number);
    }
    return number;
  }

  private @Nullable String variable(Provider provider, String name) {
    return blankAsNull(environment.get(provider.variable(name)));
  }

  private static @Nullable String blankAsNull(@Nullable String text) {
    return text == null || text.isBlank() ? null : text;
  }

  private static <T extends @Nullable Object> T or(@Nullable T value, T otherwise) {
    return value == null ? otherwise : value;
  }
}
