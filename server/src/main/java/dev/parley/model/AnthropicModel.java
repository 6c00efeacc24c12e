package dev.parley.model;

import dev.parley.net.OutgoingHttpClient;

/// A model that is accessed with Anthropic's Messages API, at Anthropic or a compatible server.
public final class AnthropicModel implements Model {

  /// The base URL of Anthropic's API.
  public static final String BASE_URL = "https://api.anthropic.com";

  /// The default model.
  public static final String MODEL = "claude-sonnet-4-5";

  private final ModelSettings settings;
  private final ModelCaller modelCaller;

  public AnthropicModel(
      OutgoingHttpClient http,
      ModelSettings settings,
      ModelLimits modelLimits,
      ModelSources sources) {
    this.settings = settings;
    this.modelCaller = new ModelCaller(http, settings, modelLimits, sources);
  }

  @Override
  public String name() {
    return settings.model();
  }

  @Override
  public ModelReply ask(Prompt prompt, ModelSink modelSink) throws InterruptedException {
    return modelCaller.ask(new AnthropicRequest(settings, prompt), modelSink);
  }
}
