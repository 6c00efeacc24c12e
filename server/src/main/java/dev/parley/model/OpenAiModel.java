package dev.parley.model;

import dev.parley.net.OutgoingHttpClient;
import java.util.Map;

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
  private final ModelSources sources;
  private final ModelCaller modelCaller;

  public OpenAiModel(
      OpenAiApi openAiApi,
      OutgoingHttpClient http,
      ModelSettings settings,
      ModelLimits modelLimits,
      ModelSources sources) {
    this.openAiApi = openAiApi;
    this.settings = settings;
    this.sources = sources;
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
          case CHAT -> chat(new ChatCompletionsRequest(settings, prompt));
          case RESPONSES -> responses(new ResponsesRequest(settings, prompt));
        },
        modelSink);
  }

  private ModelCaller.ModelRequest chat(ChatCompletionsRequest request) {
    return new ModelCaller.ModelRequest(
        settings.address(version(), "/chat/completions"),
        headers(),
        request.body(),
        request.form(),
        sinkWriter ->
            new ChatCompletionsStreamParser(settings, request.names(), sources.ids(), sinkWriter));
  }

  private ModelCaller.ModelRequest responses(ResponsesRequest request) {
    return new ModelCaller.ModelRequest(
        settings.address(version(), "/responses"),
        headers(),
        request.body(),
        request.form(),
        sinkWriter ->
            new ResponsesStreamParser(settings, request.names(), sources.ids(), sinkWriter));
  }

  /// Returns the version that is inserted if the base URL is only a host.
  private String version() {
    return settings.baseUrl().getPath().matches("/*") ? "/v1" : "";
  }

  private Map<String, String> headers() {
    var key = settings.apiKey();
    return key == null ? Map.of() : Map.of("Authorization", "Bearer " + key.value());
  }
}
