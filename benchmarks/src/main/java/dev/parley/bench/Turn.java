package dev.parley.bench;

import java.util.List;
import java.util.function.Function;

/// What one turn of one server came to: both ways of writing, and bytes for an idle stream.
record Turn(Rate single, Rate shared, double heap, double resident) {

  /// Deliveries per second, how many milliseconds they took from append to receipt, and how many
  /// microseconds of the server's processors.
  record Rate(double deliveries, double p50, double p99, double cpu) {

    /// Reads what the readers found; `cpuSeconds` is what the server used meanwhile.
    static Rate parse(String line, double cpuSeconds) {
      var parts = line.split(" ", -1);
      return new Rate(
          Double.parseDouble(parts[0]),
          Double.parseDouble(parts[1]),
          Double.parseDouble(parts[2]),
          1e6 * cpuSeconds / Double.parseDouble(parts[3]));
    }

    private static Rate middle(List<Rate> rates) {
      return new Rate(
          Turn.middle(rates, Rate::deliveries),
          Turn.middle(rates, Rate::p50),
          Turn.middle(rates, Rate::p99),
          Turn.middle(rates, Rate::cpu));
    }
  }

  /// The middle of each number.
  static Turn middle(List<Turn> turns) {
    return new Turn(
        Rate.middle(turns.stream().map(Turn::single).toList()),
        Rate.middle(turns.stream().map(Turn::shared).toList()),
        middle(turns, Turn::heap),
        middle(turns, Turn::resident));
  }

  private static <T> double middle(List<T> all, Function<T, Double> number) {
    return Middle.of(all.stream().map(number).toList());
  }
}
