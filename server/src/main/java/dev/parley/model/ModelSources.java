package dev.parley.model;

import java.time.Duration;
import java.time.InstantSource;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;

/// The clock, randomness, delays and ids of a model.
public record ModelSources(
    InstantSource clock, RandomGenerator random, Pause pause, Supplier<String> ids) {

  /// Waits.
  @FunctionalInterface
  public interface Pause {

    /// Returns after this time. An interrupt ends the wait.
    void await(Duration time) throws InterruptedException;
  }
}
