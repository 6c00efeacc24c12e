package dev.parley.task;

import java.time.Duration;

/// Limits on the number, size and duration of tasks.
public record TaskLimits(
    Duration taskTimeout,
    int maxConcurrentTasks,
    int maxQueuedPerContext,
    int maxQueuedContexts,
    int maxContentLength,
    Duration stopGrace,
    Duration inputTimeout,
    WhenLapsed whenInputLapses,
    LoopLimits loop,
    TreeLimits tree) {

  /// The longest timeout that a task may have.
  public static final Duration TIMEOUT_MAX = Duration.ofHours(24);

  /// The longest time to wait for an answer.
  public static final Duration INPUT_TIMEOUT_MAX = Duration.ofDays(365);

  /// The defaults.
  public static final TaskLimits DEFAULT =
      new TaskLimits(
          Duration.ofMinutes(5),
          200,
          100,
          10_000,
          1_000_000,
          Duration.ofSeconds(5),
          Duration.ofHours(24),
          WhenLapsed.CONTINUE,
          new LoopLimits(50, 2_000_000, 3, 500, 50_000),
          new TreeLimits(5, 16, 200));

  /// Limits of one task: turns, total tokens, consecutive turns in which every tool failed, and the
  /// size of the history in its prompt, in messages and in tokens.
  public record LoopLimits(
      int maxTurns, long maxTokens, int maxFailedTurns, int historyMessages, int historyTokens) {
    public LoopLimits {
      atLeastOne("maxTurns", maxTurns);
      atLeastOne("maxTokens", maxTokens);
      atLeastOne("maxFailedTurns", maxFailedTurns);
      atLeastOne("historyMessages", historyMessages);
      atLeastOne("historyTokens", historyTokens);
    }
  }

  /// Limits of a task tree: depth, subtasks of one call, and subtasks of one root.
  public record TreeLimits(int maxDepth, int maxFanOut, int maxSubtasks) {
    public TreeLimits {
      atLeastOne("maxDepth", maxDepth);
      atLeastOne("maxFanOut", maxFanOut);
      atLeastOne("maxSubtasks", maxSubtasks);
    }
  }

  public TaskLimits {
    between("taskTimeout", taskTimeout, TIMEOUT_MAX);
    between("inputTimeout", inputTimeout, INPUT_TIMEOUT_MAX);
    atLeastOne("maxConcurrentTasks", maxConcurrentTasks);
    atLeastOne("maxQueuedPerContext", maxQueuedPerContext);
    atLeastOne("maxQueuedContexts", maxQueuedContexts);
    atLeastOne("maxContentLength", maxContentLength);
  }

  private static void between(String name, Duration value, Duration max) {
    if (value.toMillis() < 1 || value.compareTo(max) > 0) {
      throw new IllegalArgumentException(name + " must be between 1 ms and " + max + ": " + value);
    }
  }

  private static void atLeastOne(String name, long value) {
    if (value < 1) {
      throw new IllegalArgumentException(name + " must be at least 1: " + value);
    }
  }
}
