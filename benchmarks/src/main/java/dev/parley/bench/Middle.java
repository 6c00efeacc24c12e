package dev.parley.bench;

import java.util.Collection;

/// The middle of several measurements, which one bad moment does not move.
final class Middle {

  private Middle() {}

  /// The median; of an even number, halfway between the two in the middle.
  static double of(Collection<Double> numbers) {
    var sorted = numbers.stream().sorted().toList();
    var size = sorted.size();
    return (sorted.get((size - 1) / 2) + sorted.get(size / 2)) / 2;
  }
}
