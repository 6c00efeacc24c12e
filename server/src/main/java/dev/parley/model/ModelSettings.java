package dev.parley.model;

import java.net.URI;
import org.jspecify.annotations.Nullable;

/// Which model is asked, and how: `thinkingTokens` is how much it may think, 0 if not at all.
///
/// Without `maxTokens` an answer may be as long as the provider lets it, or as is usual.
public record ModelSettings(
    String model,
    URI baseUrl,
    @Nullable ApiKey apiKey,
    @Nullable Integer maxTokens,
    int thinkingTokens,
    @Nullable Prices prices) {

  /// The address of `path` at this provider; `version` is put before it if the base URL has none.
  URI address(String version, String path) {
    var text = baseUrl.toString();
    var query = baseUrl.getRawQuery() == null ? "" : "?" + baseUrl.getRawQuery();
    var base = text.substring(0, text.length() - query.length()).replaceFirst("/+$", "");
    if (base.endsWith(path)) {
      return URI.create(base + query);
    }
    return URI.create(base + version + path + query);
  }

  /// How hard to think, for providers that take a word for it.
  String effort() {
    if (thinkingTokens < 4_096) {
      return "low";
    }
    return thinkingTokens < 16_384 ? "medium" : "high";
  }

  /// Hides the key, should it be in `text`.
  String clean(String text) {
    return apiKey == null ? text : apiKey.hideIn(text);
  }
}
