package dev.parley.bench;

import java.util.List;
import java.util.function.Function;

/// The results of one turn of one server: both ways of writing, and the bytes for an idle stream.
record Turn(Rate single, Rate shared, double heap, double resident) {

  /// Deliveries per second, the milliseconds from append to receipt, and the microseconds of the
  /// server's processor time per delivery.
  record Rate(double deliveries, double p50, double p99, double cpu) {

    /// Parses the result line of the readers; `cpuSeconds` is the server's processor time
    /// meanwhile.
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

  /// The median of each number.
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
