package dev.parley.server;

import dev.parley.model.ModelLimits;
import dev.parley.model.ModelSettings;
import dev.parley.model.OpenAiModel.OpenAiApi;

/// A language model for agents, and its provider.
public sealed interface ModelConfig {

  /// Returns a description for people.
  String title();

  /// The offline model.
  record Offline() implements ModelConfig {
    @Override
    public String title() {
      return "the offline model";
    }
  }

  /// A model with Anthropic's API.
  record Anthropic(ModelSettings settings, ModelLimits bounds) implements ModelConfig {
    @Override
    public String title() {
      return ModelConfig.title(settings);
    }
  }

  /// A model with one of OpenAI's APIs: see [OpenAiModel].
  record OpenAi(OpenAiApi api, ModelSettings settings, ModelLimits bounds) implements ModelConfig {
    @Override
    public String title() {
      return ModelConfig.title(settings);
    }
  }

  private static String title(ModelSettings settings) {
    return settings.model() + " at " + settings.baseUrl().getAuthority();
  }
}
