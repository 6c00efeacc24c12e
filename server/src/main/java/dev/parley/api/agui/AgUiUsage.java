package dev.parley.api.agui;

import dev.parley.protocol.Json;
import dev.parley.protocol.ReportEvent.Usage;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ArrayNode;

/// The token usage of a run by model, in the AG-UI format: cached tokens are included in the
/// totals. For one thread.
final class AgUiUsage {

  private record Sum(long input, long output, long cached, long written) {}

  private final Map<String, Sum> sums = new LinkedHashMap<>();

  void add(Usage usage) {
    var cached = orZero(usage.cacheReadInputTokens());
    var written = orZero(usage.cacheCreationInputTokens());
    var input = usage.allInputTokens();
    if (input + usage.outputTokens() > 0) {
      sums.merge(
          usage.model(),
          new Sum(input, usage.outputTokens(), cached, written),
          (a, b) ->
              new Sum(
                  a.input + b.input,
                  a.output + b.output,
                  a.cached + b.cached,
                  a.written + b.written));
    }
  }

  boolean isEmpty() {
    return sums.isEmpty();
  }

  ArrayNode json() {
    var all = Json.mapper().createArrayNode();
    sums.forEach(
        (model, sum) -> {
          var one = all.addObject().put("model", model);
          one.put("inputTokens", sum.input).put("outputTokens", sum.output);
          one.put("totalTokens", sum.input + sum.output);
          if (sum.cached > 0) {
            one.put("cachedInputTokens", sum.cached);
          }
          if (sum.written > 0) {
            one.put("cacheWriteInputTokens", sum.written);
          }
        });
    return all;
  }

  private static long orZero(@Nullable Long count) {
    return count == null ? 0 : count;
  }
}
