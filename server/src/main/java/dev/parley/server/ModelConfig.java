package dev.parley.server;

import dev.parley.model.Bounds;
import dev.parley.model.ModelSettings;
import dev.parley.model.OpenAiModel.Api;

/// A language model that agents can use, and who runs it.
public sealed interface ModelConfig {

  /// What it is, for people.
  String title();

  /// The stand-in that needs no network.
  record Offline() implements ModelConfig {
    @Override
    public String title() {
      return "the offline model";
    }
  }

  /// One that speaks Anthropic's API.
  record Anthropic(ModelSettings settings, Bounds bounds) implements ModelConfig {
    @Override
    public String title() {
      return ModelConfig.title(settings);
    }
  }

  /// One that speaks one of OpenAI's APIs: see [OpenAiModel].
  record OpenAi(Api api, ModelSettings settings, Bounds bounds) implements ModelConfig {
    @Override
    public String title() {
      return ModelConfig.title(settings);
    }
  }

  private static String title(ModelSettings settings) {
    return settings.model() + " at " + settings.baseUrl().getAuthority();
  }
}
