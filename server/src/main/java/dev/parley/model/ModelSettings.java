package dev.parley.model;

import java.net.URI;
import org.jspecify.annotations.Nullable;

/// The model, its address and its parameters. `thinkingTokens` is the thinking budget, 0 for none.
///
/// Without `maxTokens` the provider's limit or a default applies.
public record ModelSettings(
    String model,
    URI baseUrl,
    @Nullable ApiKey apiKey,
    @Nullable Integer maxTokens,
    int thinkingTokens,
    @Nullable Prices prices) {

  /// Returns the base URL with `version` and `path` appended, unless it already ends with `path`.
  URI address(String version, String path) {
    var text = baseUrl.toString();
    var query = baseUrl.getRawQuery() == null ? "" : "?" + baseUrl.getRawQuery();
    var base = text.substring(0, text.length() - query.length()).replaceFirst("/+$", "");
    if (base.endsWith(path)) {
      return URI.create(base + query);
    }
    return URI.create(base + version + path + query);
  }

  /// Returns the thinking effort, for providers that accept a word instead of a number.
  String effort() {
    if (thinkingTokens < 4_096) {
      return "low";
    }
    return thinkingTokens < 16_384 ? "medium" : "high";
  }

  /// Removes the API key from `text`.
  String redact(String text) {
    return apiKey == null ? text : apiKey.redact(text);
  }
}
