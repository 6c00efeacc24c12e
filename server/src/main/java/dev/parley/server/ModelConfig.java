package dev.parley.server;

import dev.parley.model.Model;
import dev.parley.model.ModelLimits;
import dev.parley.model.ModelSettings;
import dev.parley.model.ModelSources;
import dev.parley.model.OpenAiModel.OpenAiApi;
import java.util.function.Function;

/// A language model for agents, and its provider.
public sealed interface ModelConfig {

  /// Returns a description for people.
  String title();

  /// No model: nothing is configured, and the program provides none.
  record Missing() implements ModelConfig {
    @Override
    public String title() {
      return "no model";
    }
  }

  /// A model of the program that embeds the server, which the configuration selects as `provider`.
  ///
  /// `standIn` is true if the model only stands in for a real one: it needs no network, and rules
  /// choose the agents in its place.
  record Provided(
      String provider, String title, boolean standIn, Function<ModelSources, Model> factory)
      implements ModelConfig {}

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
