package dev.parley.model;

import java.math.BigDecimal;
import java.net.URI;
import java.util.regex.Pattern;
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

  /// Prices per million tokens in US dollars. Without prices of their own, tokens that are written
  /// to or read from a cache cost as much as other input.
  public record Prices(
      BigDecimal input,
      BigDecimal output,
      @Nullable BigDecimal cacheWrite,
      @Nullable BigDecimal cacheRead) {

    private static final int MILLION_DIGITS = 6;

    BigDecimal cost(long inputs, long outputs, long cacheWrites, long cacheReads) {
      var sum =
          times(input, inputs)
              .add(times(output, outputs))
              .add(times(cacheWrite == null ? input : cacheWrite, cacheWrites))
              .add(times(cacheRead == null ? input : cacheRead, cacheReads))
              .movePointLeft(MILLION_DIGITS)
              .stripTrailingZeros();
      return sum.scale() < 0 ? sum.setScale(0) : sum;
    }

    private static BigDecimal times(BigDecimal price, long tokens) {
      return price.multiply(BigDecimal.valueOf(tokens));
    }
  }

  /// The API key for a provider. [#toString] does not show it.
  public record ApiKey(String value) {

    private static final String HIDDEN = "***";

    /// Shorter keys may occur in words by chance.
    private static final int LENGTH_MIN = 4;

    public ApiKey {
      if (value.isBlank() || value.chars().anyMatch(c -> c <= ' ' || c > '~')) {
        throw new IllegalArgumentException("a key is visible ASCII characters without spaces");
      }
    }

    /// Returns the text without this key. A very short key is replaced only where it is a separate
    /// word.
    String redact(String text) {
      return value.length() < LENGTH_MIN
          ? text.replaceAll("(?<!\\w)" + Pattern.quote(value) + "(?!\\w)", HIDDEN)
          : text.replace(value, HIDDEN);
    }

    @Override
    public String toString() {
      return HIDDEN;
    }
  }
}
