package dev.parley.external.cli;

import dev.parley.protocol.ReportEvent.Usage;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/// Counts the tokens and costs of Claude Code. Each message counts once, by its id; the last count
/// replaces earlier ones.
///
/// The end of a turn contains sums per model, with costs; older versions have only one sum for the
/// turn. The difference to what was reported before is reported then.
final class ClaudeUsageCounter {

  /// The maximum number of incomplete messages that are remembered.
  private static final int OPEN_MAX = 1_000;

  private record Counts(long input, long output, long cacheWrite, long cacheRead) {

    static final Counts NONE = new Counts(0, 0, 0, 0);

    Counts plus(Counts more) {
      return new Counts(
          input + more.input,
          output + more.output,
          cacheWrite + more.cacheWrite,
          cacheRead + more.cacheRead);
    }

    Counts minus(Counts told) {
      return new Counts(
          Math.max(0, input - told.input),
          Math.max(0, output - told.output),
          Math.max(0, cacheWrite - told.cacheWrite),
          Math.max(0, cacheRead - told.cacheRead));
    }

    /// The counts in `usage`; what it does not contain is as `before`.
    static Counts of(JsonNode usage, Counts before) {
      return new Counts(
          last(usage.path("input_tokens"), before.input),
          last(usage.path("output_tokens"), before.output),
          last(usage.path("cache_creation_input_tokens"), before.cacheWrite),
          last(usage.path("cache_read_input_tokens"), before.cacheRead));
    }

    private static long last(JsonNode now, long before) {
      return now.isNumber() ? JsonLine.count(now) : before;
    }

    boolean atLeast(Counts less) {
      return input >= less.input
          && output >= less.output
          && cacheWrite >= less.cacheWrite
          && cacheRead >= less.cacheRead;
    }

    ProgramEvent.UsageReported usageOf(String model, @Nullable BigDecimal cost) {
      return new ProgramEvent.UsageReported(
          new Usage(model, input, output, cacheWrite, cacheRead, cost));
    }
  }

  private record Message(String model, Counts counts) {}

  private final Map<String, Message> open = new LinkedHashMap<>();

  /// Finished messages: a later line may repeat or correct their counts.
  private final Map<String, Message> settled =
      new LinkedHashMap<>() {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Message> eldest) {
          return size() > OPEN_MAX;
        }
      };

  private final Map<String, Counts> reported = new LinkedHashMap<>();

  /// What was reported in this turn, for all models.
  private Counts turn = Counts.NONE;

  /// The sums of the previous turn: a process accumulates them as long as it runs.
  private final Map<String, Counts> sums = new LinkedHashMap<>();

  private final Map<String, BigDecimal> costs = new LinkedHashMap<>();
  private String lastModel = "claude";

  /// Starts a message. Some gateways use the same id for all messages, so this discards earlier
  /// counts of that id.
  List<ProgramEvent> begin(String message) {
    var before = finishMessage(message);
    settled.remove(message);
    return before;
  }

  /// Records the token counts of a message in a line; later lines replace them.
  void count(String message, String model, JsonNode usage) {
    if (!usage.isObject() || (open.size() >= OPEN_MAX && !open.containsKey(message))) {
      return;
    }
    lastModel = model.isEmpty() ? lastModel : model;
    var known =
        open.getOrDefault(message, settled.getOrDefault(message, new Message(model, Counts.NONE)));
    open.put(message, new Message(known.model(), Counts.of(usage, known.counts())));
  }

  /// Finishes a message and reports its counts.
  List<ProgramEvent> finishMessage(String message) {
    var done = open.remove(message);
    if (done == null) {
      return List.of();
    }
    var before = settled.put(message, done);
    var more = before == null ? done.counts() : done.counts().minus(before.counts());
    if (more.equals(Counts.NONE)) {
      return List.of();
    }
    addReported(name(done.model()), more);
    return List.of(more.usageOf(name(done.model()), null));
  }

  private void addReported(String model, Counts more) {
    reported.merge(model, more, Counts::plus);
    turn = turn.plus(more);
  }

  /// Ends a turn, with its sums per model, or its one sum.
  List<ProgramEvent> total(JsonNode modelUsage, JsonNode usage, JsonNode cost) {
    var rest =
        modelUsage.isObject() && !modelUsage.isEmpty()
            ? totalPerModel(modelUsage, cost)
            : totalOfTurn(usage, cost);
    turn = Counts.NONE;
    return rest;
  }

  /// Reports the tokens of the turn that no message had. The sum does not include sub-agents, so it
  /// can be smaller than what the messages had.
  private List<ProgramEvent> totalOfTurn(JsonNode usage, JsonNode cost) {
    var rest = new ArrayList<>(end());
    var model = name(lastModel);
    var more = Counts.of(usage, Counts.NONE).minus(turn);
    var money = costIncrease("", JsonLine.money(cost));
    if (!more.equals(Counts.NONE) || money != null) {
      addReported(model, more);
      rest.add(more.usageOf(model, money));
    }
    return rest;
  }

  private List<ProgramEvent> totalPerModel(JsonNode modelUsage, JsonNode cost) {
    open.clear();
    var rest = new ArrayList<ProgramEvent>();
    // Behind a gateway, the model names in messages differ from those in the sums.
    var others = Counts.NONE;
    for (var known : reported.entrySet()) {
      if (modelUsage.propertyStream().noneMatch(sum -> name(sum.getKey()).equals(known.getKey()))) {
        others = others.plus(known.getValue());
      }
    }
    var unpriced =
        modelUsage.valueStream().allMatch(sum -> JsonLine.money(sum.path("costUSD")) == null);
    for (var sum : modelUsage.properties()) {
      var all = sum.getValue();
      var model = name(sum.getKey());
      var counts =
          new Counts(
              JsonLine.count(all.path("inputTokens")),
              JsonLine.count(all.path("outputTokens")),
              JsonLine.count(all.path("cacheCreationInputTokens")),
              JsonLine.count(all.path("cacheReadInputTokens")));
      var money = JsonLine.money(all.path("costUSD"));
      if (money == null && unpriced) {
        // The total cost is reported once, with the first model.
        money = JsonLine.money(cost);
        unpriced = false;
      }
      money = costIncrease(model, money);
      var untold = increase(model, counts).minus(reported.getOrDefault(model, Counts.NONE));
      var more = untold.minus(others);
      others = others.minus(untold);
      if (!more.equals(Counts.NONE) || money != null) {
        rest.add(more.usageOf(model, money));
      }
    }
    reported.clear();
    return rest;
  }

  /// The increase since the previous sum; the whole sum if it was reset.
  private Counts increase(String model, Counts sum) {
    var before = sums.put(model, sum);
    return before == null || !sum.atLeast(before) ? sum : sum.minus(before);
  }

  private @Nullable BigDecimal costIncrease(String model, @Nullable BigDecimal cost) {
    if (cost == null) {
      return null;
    }
    var before = costs.put(model, cost);
    if (before == null || cost.compareTo(before) < 0) {
      return cost;
    }
    return cost.compareTo(before) == 0 ? null : cost.subtract(before);
  }

  /// Finishes all open messages when there are no sums.
  List<ProgramEvent> end() {
    var rest = new ArrayList<ProgramEvent>();
    for (var message : List.copyOf(open.keySet())) {
      rest.addAll(finishMessage(message));
    }
    return rest;
  }

  /// The name without the size of the context window, which sums append and messages do not.
  private static String name(String model) {
    var bracket = model.indexOf('[');
    return bracket > 0 ? model.substring(0, bracket) : model;
  }
}
