package dev.parley.bench;

import java.util.List;
import java.util.function.Function;

/// The results of one turn of one server: both ways of writing, and the bytes for an idle stream.
record FanoutResult(Rate single, Rate shared, double heap, double resident) {

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

    private static Rate median(List<Rate> rates) {
      return new Rate(
          FanoutResult.median(rates, Rate::deliveries),
          FanoutResult.median(rates, Rate::p50),
          FanoutResult.median(rates, Rate::p99),
          FanoutResult.median(rates, Rate::cpu));
    }
  }

  /// The median of each number.
  static FanoutResult median(List<FanoutResult> turns) {
    return new FanoutResult(
        Rate.median(turns.stream().map(FanoutResult::single).toList()),
        Rate.median(turns.stream().map(FanoutResult::shared).toList()),
        median(turns, FanoutResult::heap),
        median(turns, FanoutResult::resident));
  }

  private static <T> double median(List<T> all, Function<T, Double> number) {
    return Median.of(all.stream().map(number).toList());
  }
}
