package dev.parley.model;

import java.util.Map;

/// A model that is accessed with one of OpenAI's APIs, at OpenAI or a compatible server.
public final class OpenAiModel implements Model {

  /// The base URL of OpenAI's API.
  public static final String BASE_URL = "https://api.openai.com/v1";

  /// The default model.
  public static final String MODEL = "gpt-5";

  /// OpenAI's APIs.
  public enum Api {
    /// Chat completions, which nearly every compatible server supports.
    CHAT,
    /// Responses, which returns the model's reasoning.
    RESPONSES
  }

  private final Api api;
  private final ModelSettings settings;
  private final ModelSources sources;
  private final Caller caller;

  public OpenAiModel(
      Api api, ModelHttp http, ModelSettings settings, Bounds bounds, ModelSources sources) {
    this.api = api;
    this.settings = settings;
    this.sources = sources;
    this.caller = new Caller(http, settings, bounds, sources);
  }

  @Override
  public String name() {
    return settings.model();
  }

  @Override
  public Reply ask(Prompt prompt, Sink sink) throws InterruptedException {
    return caller.ask(
        switch (api) {
          case CHAT -> chat(new ChatRequest(settings, prompt));
          case RESPONSES -> responses(new ResponsesRequest(settings, prompt));
        },
        sink);
  }

  private Caller.Question chat(ChatRequest request) {
    return new Caller.Question(
        settings.address(version(), "/chat/completions"),
        headers(),
        request.body(),
        request.form(),
        outlet -> new ChatReading(settings, request.names(), sources.ids(), outlet));
  }

  private Caller.Question responses(ResponsesRequest request) {
    return new Caller.Question(
        settings.address(version(), "/responses"),
        headers(),
        request.body(),
        request.form(),
        outlet -> new ResponsesReading(settings, request.names(), sources.ids(), outlet));
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
