package dev.parley.projection;

import dev.parley.protocol.ReportEvent.Usage;
import dev.parley.protocol.TaskEndFacts;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/// The usage of model calls, summed by model. Every total of tokens that an API shows is
/// [Usage#totalTokens] of such a sum, so it includes cached tokens. For one thread.
public final class UsageTotals {

  private final Map<String, Usage> byModel = new LinkedHashMap<>();

  public void add(Usage usage) {
    byModel.merge(usage.model(), usage, Usage::plus);
  }

  /// The sum of each model, in the order of their first calls.
  public Map<String, Usage> byModel() {
    return byModel;
  }

  /// The sums in a task's last event, with those of its subtasks. `total` is missing if the event has
  /// no sums.
  public record EndTotals(@Nullable Usage total, Map<String, Usage> byModel) {}

  /// The sums in a task's last event. In logs of version 0.1 they are the task's own, and each result
  /// of a subtask has separate sums. In later logs they include all subtasks.
  public static EndTotals atEnd(TaskEndFacts end) {
    var total = new UsageTotals();
    var models = new UsageTotals();
    addSums(end.usage(), end.modelUsage(), total, models);
    for (var result : end.sumsIncludeSubtasks() ? List.<JsonNode>of() : end.results()) {
      addSums(result.path("usage"), result.path("modelUsage"), total, models);
    }
    return new EndTotals(total.byModel.get(""), Collections.unmodifiableMap(models.byModel));
  }

  private static void addSums(
      JsonNode usage, JsonNode modelUsage, UsageTotals total, UsageTotals models) {
    if (!usage.isEmpty()) {
      total.add(sum("", usage));
    }
    modelUsage.properties().forEach(sums -> models.add(sum(sums.getKey(), sums.getValue())));
  }

  private static Usage sum(String model, JsonNode sums) {
    return new Usage(
        model,
        sums.path("inputTokens").asLong(0),
        sums.path("outputTokens").asLong(0),
        number(sums.path("cacheCreationInputTokens")),
        number(sums.path("cacheReadInputTokens")),
        sums.path("costUsd").isNumber() ? sums.path("costUsd").decimalValue() : null);
  }

  private static @Nullable Long number(JsonNode value) {
    return value.isNumber() ? value.longValue() : null;
  }

  /// The sum of all models.
  public Usage total() {
    return byModel.values().stream().reduce(new Usage("", 0, 0, null, null, null), Usage::plus);
  }
}
