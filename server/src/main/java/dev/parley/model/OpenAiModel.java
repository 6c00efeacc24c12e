package dev.parley.model;

import dev.parley.net.OutgoingHttpClient;

/// A model that is accessed with one of OpenAI's APIs, at OpenAI or a compatible server.
public final class OpenAiModel implements Model {

  /// The base URL of OpenAI's API.
  public static final String BASE_URL = "https://api.openai.com/v1";

  /// The default model.
  public static final String MODEL = "gpt-5";

  /// OpenAI's APIs.
  public enum OpenAiApi {
    /// Chat completions, which nearly every compatible server supports.
    CHAT,
    /// Responses, which returns the model's reasoning.
    RESPONSES
  }

  private final OpenAiApi openAiApi;
  private final ModelSettings settings;
  private final ModelCaller modelCaller;

  public OpenAiModel(
      OpenAiApi openAiApi,
      OutgoingHttpClient http,
      ModelSettings settings,
      ModelLimits modelLimits,
      ModelSources sources) {
    this.openAiApi = openAiApi;
    this.settings = settings;
    this.modelCaller = new ModelCaller(http, settings, modelLimits, sources);
  }

  @Override
  public String name() {
    return settings.model();
  }

  @Override
  public ModelReply ask(Prompt prompt, ModelSink modelSink) throws InterruptedException {
    return modelCaller.ask(
        switch (openAiApi) {
          case CHAT -> new ChatCompletionsRequest(settings, prompt);
          case RESPONSES -> new ResponsesRequest(settings, prompt);
        },
        modelSink);
  }
}
