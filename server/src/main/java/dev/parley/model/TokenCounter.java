package dev.parley.model;

import dev.parley.protocol.ReportEvent.Usage;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/// Counts the tokens of one answer. For one thread.
///
/// Providers report growing counts several times, and some report zeros in between, so the largest
/// number is used.
final class TokenCounter {

  private long input;
  private long output;
  private @Nullable Long cacheWrite;
  private @Nullable Long cacheRead;

  /// Adds Anthropic's counts. Their input does not include tokens that are written to or read from
  /// the cache.
  void addAnthropic(JsonNode usage) {
    input = Math.max(input, count(usage.path("input_tokens")));
    output = Math.max(output, count(usage.path("output_tokens")));
    cacheWrite = larger(cacheWrite, usage.path("cache_creation_input_tokens"));
    cacheRead = larger(cacheRead, usage.path("cache_read_input_tokens"));
  }

  /// Adds OpenAI's counts. Their input includes tokens that are read from the cache.
  void addOpenAi(JsonNode usage, String inputName, String outputName) {
    var all = count(usage.path(inputName + "_tokens"));
    var cached = usage.path(inputName + "_tokens_details").path("cached_tokens");
    // DeepSeek's name for the same count.
    cacheRead = larger(larger(cacheRead, cached), usage.path("prompt_cache_hit_tokens"));
    input = Math.max(input, Math.max(0, all - (cacheRead == null ? 0 : cacheRead)));
    output = Math.max(output, count(usage.path(outputName + "_tokens")));
  }

  Usage usage(ModelSettings settings) {
    var prices = settings.prices();
    return new Usage(
        settings.model(),
        input,
        output,
        cacheWrite,
        cacheRead,
        prices == null ? null : prices.cost(input, output, or0(cacheWrite), or0(cacheRead)));
  }

  private static @Nullable Long larger(@Nullable Long known, JsonNode told) {
    return told.isNumber() ? (Long) Math.max(or0(known), count(told)) : known;
  }

  private static long or0(@Nullable Long count) {
    return count == null ? 0 : count;
  }

  private static long count(JsonNode node) {
    return node.isIntegralNumber() && node.canConvertToLong() ? Math.max(0, node.asLong()) : 0;
  }
}
