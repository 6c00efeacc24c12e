package dev.parley.model;

import dev.parley.net.OutgoingHttpClient;
import java.util.LinkedHashMap;
import java.util.Map;

/// A model that is accessed with Anthropic's Messages API, at Anthropic or a compatible server.
public final class AnthropicModel implements Model {

  /// The base URL of Anthropic's API.
  public static final String BASE_URL = "https://api.anthropic.com";

  /// The default model.
  public static final String MODEL = "claude-sonnet-4-5";

  private static final String VERSION = "2023-06-01";

  private final ModelSettings settings;
  private final ModelSources sources;
  private final ModelCaller modelCaller;

  public AnthropicModel(
      OutgoingHttpClient http,
      ModelSettings settings,
      ModelLimits modelLimits,
      ModelSources sources) {
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
    var request = new AnthropicRequest(settings, prompt);
    var version = settings.baseUrl().getPath().matches(".*/v1/?") ? "" : "/v1";
    return modelCaller.ask(
        new ModelCaller.ModelRequest(
            settings.address(version, "/messages"),
            headers(),
            request.body(),
            request.form(),
            sinkWriter -> new AnthropicStreamParser(settings, request, sources.ids(), sinkWriter)),
        modelSink);
  }

  private Map<String, String> headers() {
    var headers = new LinkedHashMap<String, String>();
    headers.put("anthropic-version", VERSION);
    if (settings.apiKey() != null) {
      headers.put("x-api-key", settings.apiKey().value());
    }
    return headers;
  }
}
