package dev.parley.task;

import java.time.Duration;

/// How much a server takes on, and how long it lets work go on.
public record Limits(
    Duration taskTimeout,
    int maxTurns,
    int maxConcurrentTasks,
    int maxQueuedPerContext,
    int maxQueuedContexts,
    int maxContentLength,
    Duration stopGrace,
    int historyMessages,
    int historyCharacters) {

  /// The longest that a task may be given.
  public static final Duration TIMEOUT_MAX = Duration.ofHours(24);

  /// What holds unless the configuration says otherwise.
  public static final Limits DEFAULT =
      new Limits(
          Duration.ofMinutes(5),
          50,
          200,
          100,
          10_000,
          1_000_000,
          Duration.ofSeconds(5),
          50,
          200_000);

  public Limits {
    if (taskTimeout.toMillis() < 1 || taskTimeout.compareTo(TIMEOUT_MAX) > 0) {
      throw new IllegalArgumentException("taskTimeout is between 1 ms and 24 h: " + taskTimeout);
    }
    atLeastOne("maxTurns", maxTurns);
    atLeastOne("maxConcurrentTasks", maxConcurrentTasks);
    atLeastOne("maxQueuedPerContext", maxQueuedPerContext);
    atLeastOne("maxQueuedContexts", maxQueuedContexts);
    atLeastOne("maxContentLength", maxContentLength);
    atLeastOne("historyMessages", historyMessages);
    atLeastOne("historyCharacters", historyCharacters);
  }

  private static void atLeastOne(String name, int value) {
    if (value < 1) {
      throw new IllegalArgumentException(name + " is at least 1: " + value);
    }
  }
}
