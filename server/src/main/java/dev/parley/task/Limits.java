package dev.parley.task;

import java.time.Duration;

/// How much a server takes on, and how long it lets work go on.
public record Limits(
    Duration taskTimeout,
    int maxConcurrentTasks,
    int maxQueuedPerContext,
    int maxQueuedContexts,
    int maxContentLength,
    Duration stopGrace,
    Duration inputTimeout,
    WhenLapsed whenInputLapses,
    Loop loop,
    Tree tree) {

  /// The longest that a task may be given.
  public static final Duration TIMEOUT_MAX = Duration.ofHours(24);

  /// The longest that a person may be waited for.
  public static final Duration INPUT_TIMEOUT_MAX = Duration.ofDays(365);

  /// What holds unless the configuration says otherwise.
  public static final Limits DEFAULT =
      new Limits(
          Duration.ofMinutes(5),
          200,
          100,
          10_000,
          1_000_000,
          Duration.ofSeconds(5),
          Duration.ofHours(24),
          WhenLapsed.CONTINUE,
          new Loop(50, 2_000_000, 3, 500, 50_000),
          new Tree(5, 16, 200));

  /// How far one task may go: questions to the model, tokens in all, turns in a row in which no tool
  /// worked, and how much of the past it is told, in messages and in tokens.
  public record Loop(
      int maxTurns, long maxTokens, int maxFailedTurns, int historyMessages, int historyTokens) {
    public Loop {
      atLeastOne("maxTurns", maxTurns);
      atLeastOne("maxTokens", maxTokens);
      atLeastOne("maxFailedTurns", maxFailedTurns);
      atLeastOne("historyMessages", historyMessages);
      atLeastOne("historyTokens", historyTokens);
    }
  }

  /// How many tasks may stand below each other, be spawned by one call, and be below one root in all.
  public record Tree(int maxDepth, int maxFanOut, int maxSubtasks) {
    public Tree {
      atLeastOne("maxDepth", maxDepth);
      atLeastOne("maxFanOut", maxFanOut);
      atLeastOne("maxSubtasks", maxSubtasks);
    }
  }

  public Limits {
    between("taskTimeout", taskTimeout, TIMEOUT_MAX);
    between("inputTimeout", inputTimeout, INPUT_TIMEOUT_MAX);
    atLeastOne("maxConcurrentTasks", maxConcurrentTasks);
    atLeastOne("maxQueuedPerContext", maxQueuedPerContext);
    atLeastOne("maxQueuedContexts", maxQueuedContexts);
    atLeastOne("maxContentLength", maxContentLength);
  }

  private static void between(String name, Duration value, Duration max) {
    if (value.toMillis() < 1 || value.compareTo(max) > 0) {
      throw new IllegalArgumentException(name + " is between 1 ms and " + max + ": " + value);
    }
  }

  private static void atLeastOne(String name, long value) {
    if (value < 1) {
      throw new IllegalArgumentException(name + " is at least 1: " + value);
    }
  }
}
