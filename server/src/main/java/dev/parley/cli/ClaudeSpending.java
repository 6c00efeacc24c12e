package dev.parley.cli;

import dev.parley.protocol.ReportEvent.Usage;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/// Counts what Claude Code spends: each message once, by its id, the last count wins.
///
/// The end of a turn tells sums by model, with costs. What they have more than was told is told then.
final class ClaudeSpending {

  /// How many messages that are not yet whole are remembered.
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

    boolean holds(Counts less) {
      return input >= less.input
          && output >= less.output
          && cacheWrite >= less.cacheWrite
          && cacheRead >= less.cacheRead;
    }

    Said.Spent spent(String model, @Nullable BigDecimal cost) {
      return new Said.Spent(new Usage(model, input, output, cacheWrite, cacheRead, cost));
    }
  }

  private record Message(String model, Counts counts) {}

  private final Map<String, Message> open = new LinkedHashMap<>();

  /// Messages that were settled: a later line may repeat or correct their counts.
  private final Map<String, Message> settled =
      new LinkedHashMap<>() {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Message> eldest) {
          return size() > OPEN_MAX;
        }
      };

  private final Map<String, Counts> told = new LinkedHashMap<>();

  /// The sums of the turn before: a process adds to them as long as it runs.
  private final Map<String, Counts> sums = new LinkedHashMap<>();

  private final Map<String, BigDecimal> costs = new LinkedHashMap<>();
  private String lastModel = "claude";

  /// A message begins. Some gateways give the same id to all messages: what is known of that id ends here.
  List<Said> begin(String message) {
    var before = settle(message);
    settled.remove(message);
    return before;
  }

  /// What a line says of a message's tokens; later lines say it anew.
  void count(String message, String model, JsonNode usage) {
    if (!usage.isObject() || (open.size() >= OPEN_MAX && !open.containsKey(message))) {
      return;
    }
    lastModel = model.isEmpty() ? lastModel : model;
    var known =
        open.getOrDefault(message, settled.getOrDefault(message, new Message(model, Counts.NONE)));
    open.put(
        message,
        new Message(
            known.model(),
            new Counts(
                last(usage.path("input_tokens"), known.counts().input()),
                last(usage.path("output_tokens"), known.counts().output()),
                last(usage.path("cache_creation_input_tokens"), known.counts().cacheWrite()),
                last(usage.path("cache_read_input_tokens"), known.counts().cacheRead()))));
  }

  private static long last(JsonNode now, long before) {
    return now.isNumber() ? JsonLine.count(now) : before;
  }

  /// A message is whole.
  List<Said> settle(String message) {
    var done = open.remove(message);
    if (done == null) {
      return List.of();
    }
    var before = settled.put(message, done);
    var more = before == null ? done.counts() : done.counts().minus(before.counts());
    if (more.equals(Counts.NONE)) {
      return List.of();
    }
    told.merge(name(done.model()), more, Counts::plus);
    return List.of(more.spent(name(done.model()), null));
  }

  /// The turn is over, and these are its sums by model.
  List<Said> total(JsonNode modelUsage, JsonNode cost) {
    if (!modelUsage.isObject() || modelUsage.isEmpty()) {
      var rest = new ArrayList<>(end());
      var money = more("", JsonLine.money(cost));
      if (money != null) {
        rest.add(Counts.NONE.spent(name(lastModel), money));
      }
      return rest;
    }
    open.clear();
    var rest = new ArrayList<Said>();
    // Behind a gateway messages have other names for their models than sums have.
    var others = Counts.NONE;
    for (var known : told.entrySet()) {
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
        // The sum for all models is told once, with the first one.
        money = JsonLine.money(cost);
        unpriced = false;
      }
      money = more(model, money);
      var untold = since(model, counts).minus(told.getOrDefault(model, Counts.NONE));
      var more = untold.minus(others);
      others = others.minus(untold);
      if (!more.equals(Counts.NONE) || money != null) {
        rest.add(more.spent(model, money));
      }
    }
    told.clear();
    return rest;
  }

  /// What a sum has more than the one before; all of it if it began anew.
  private Counts since(String model, Counts sum) {
    var before = sums.put(model, sum);
    return before == null || !sum.holds(before) ? sum : sum.minus(before);
  }

  private @Nullable BigDecimal more(String model, @Nullable BigDecimal cost) {
    if (cost == null) {
      return null;
    }
    var before = costs.put(model, cost);
    if (before == null || cost.compareTo(before) < 0) {
      return cost;
    }
    return cost.compareTo(before) == 0 ? null : cost.subtract(before);
  }

  /// There will be no sums: what is known has to do.
  List<Said> end() {
    var rest = new ArrayList<Said>();
    for (var message : List.copyOf(open.keySet())) {
      rest.addAll(settle(message));
    }
    return rest;
  }

  /// Sums have the size of the window behind the model's name, messages have not.
  private static String name(String model) {
    var bracket = model.indexOf('[');
    return bracket > 0 ? model.substring(0, bracket) : model;
  }
}
