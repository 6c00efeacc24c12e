package dev.parley.server;

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

/// The models of a server, by their names in its configuration, and the connections they share.
final class Models implements AutoCloseable {

  private final Map<String, Model> models = new LinkedHashMap<>();
  private final ModelSources sources;
  private @Nullable ModelHttp http;

  Models(Map<String, ModelConfig> configs, Server.Sources given) {
    this.sources =
        new ModelSources(
            given.clock(), new SecureRandom(), Thread::sleep, () -> given.ids().get().toString());
    configs.forEach((name, config) -> models.put(name, model(config)));
  }

  /// The model of this name, of which the configuration knows.
  Model named(String name) {
    var model = models.get(name);
    if (model == null) {
      throw new IllegalArgumentException("there is no model " + name);
    }
    return model;
  }

  private Model model(ModelConfig config) {
    return switch (config) {
      case ModelConfig.Offline _ -> new OfflineModel(sources.ids(), OfflineModel.PACE);
      case ModelConfig.Anthropic(var settings, var bounds) ->
          new AnthropicModel(http(), settings, bounds, sources);
      case ModelConfig.OpenAi(var api, var settings, var bounds) ->
          new OpenAiModel(api, http(), settings, bounds, sources);
    };
  }

  /// Made when the first model needs it: it has a thread.
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
