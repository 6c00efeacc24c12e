package dev.parley.model;

import java.time.Duration;
import java.time.InstantSource;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;

/// Where a model's time, chance and new ids come from.
public record ModelSources(
    InstantSource clock, RandomGenerator random, Pause pause, Supplier<String> ids) {

  /// Lets time pass.
  @FunctionalInterface
  public interface Pause {

    /// Returns after so long. An interrupt ends it.
    void await(Duration time) throws InterruptedException;
  }
}
