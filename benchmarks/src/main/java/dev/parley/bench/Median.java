package dev.parley.bench;

import java.util.Collection;

/// The median of several measurements, which a single outlier does not change.
final class Median {

  private Median() {}

  /// The median; for an even number of measurements, the mean of the two middle ones.
  static double of(Collection<Double> numbers) {
    var sorted = numbers.stream().sorted().toList();
    var size = sorted.size();
    return (sorted.get((size - 1) / 2) + sorted.get(size / 2)) / 2;
  }
}
