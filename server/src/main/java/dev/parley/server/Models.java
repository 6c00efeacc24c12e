package dev.parley.server;

import dev.parley.http.Metric;
import dev.parley.http.Metrics;
import dev.parley.model.AnthropicModel;
import dev.parley.model.Model;
import dev.parley.model.ModelHttp;
import dev.parley.model.ModelSources;
import dev.parley.model.OfflineModel;
import dev.parley.model.OpenAiModel;
import java.security.SecureRandom;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// The models of a server by name, and the HTTP client that they share.
final class Models implements AutoCloseable {

  private final Map<String, Model> models = new LinkedHashMap<>();
  private @Nullable ModelHttp http;

  Models(Map<String, ModelConfig> configs, Server.ServerSources given, Metrics metrics) {
    var random = new SecureRandom();
    configs.forEach(
        (name, config) -> {
          var retries = metrics.counter(Metric.MODEL_RETRIES, name);
          var sources =
              new ModelSources(
                  given.clock(),
                  random,
                  // A model waits only before a retry.
                  pause -> {
                    retries.increment();
                    Thread.sleep(pause);
                  },
                  () -> given.ids().get().toString());
          models.put(name, new MeteredModel(name, model(config, sources), metrics));
        });
  }

  /// Returns the model with this name, which must be configured.
  Model named(String name) {
    var model = models.get(name);
    if (model == null) {
      throw new IllegalArgumentException("there is no model " + name);
    }
    return model;
  }

  private Model model(ModelConfig config, ModelSources sources) {
    return switch (config) {
      case ModelConfig.Offline _ -> new OfflineModel(sources.ids(), OfflineModel.PACE);
      case ModelConfig.Anthropic(var settings, var modelLimits) ->
          new AnthropicModel(http(), settings, modelLimits, sources);
      case ModelConfig.OpenAi(var openAiApi, var settings, var modelLimits) ->
          new OpenAiModel(openAiApi, http(), settings, modelLimits, sources);
    };
  }

  /// Created for the first model that needs it, because it starts a thread.
  private ModelHttp http() {
    if (http == null) {
      http = new ModelHttp();
    }
    return http;
  }

  @Override
  public void close() {
    if (http != null) {
      http.close();
    }
  }
}
