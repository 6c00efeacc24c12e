package dev.parley.model;

import java.net.URI;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// A request to a model's server in the format of one API.
abstract class ProviderRequest {

  final ModelSettings settings;
  final Prompt prompt;
  final @Nullable AnswerSchema form;
  final WireNames names;

  ProviderRequest(ModelSettings settings, Prompt prompt) {
    this.settings = settings;
    this.prompt = prompt;
    this.form = AnswerSchema.of(prompt);
    this.names = new WireNames(prompt.tools());
  }

  abstract URI address();

  /// The headers that only this API needs.
  abstract Map<String, String> headers();

  abstract ObjectNode body();

  /// A parser of one response.
  abstract ModelStreamParser parser(Supplier<String> ids, SinkWriter sinkWriter);

  /// The address of an operation of OpenAI's APIs, and of compatible servers. Inserts the version
  /// if the base URL is only a host.
  final URI openAiAddress(String operation) {
    return settings.address(settings.baseUrl().getPath().matches("/*") ? "/v1" : "", operation);
  }

  final Map<String, String> openAiHeaders() {
    var key = settings.apiKey();
    return key == null ? Map.of() : Map.of("Authorization", "Bearer " + key.value());
  }
}
