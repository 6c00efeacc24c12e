package dev.parley.model;

import dev.parley.runtime.Time;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;

/// The time, randomness and ids of a model.
public record ModelSources(Time time, RandomGenerator random, Supplier<String> ids) {}
