package dev.parley.client;

import dev.parley.client.Timeline.Plain;
import dev.parley.client.Timeline.SubagentGroup;
import dev.parley.client.Timeline.SubagentThread;
import dev.parley.protocol.ReportEvent.Usage;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.ToolEvent.ToolStart;
import java.util.List;

/// The progress of the sub-agents of one call, including their own sub-agents.
///
/// `completed` counts those that have ended: either `succeeded` or `failed`, which includes
/// canceled ones. `tokens` counts input and output of models; a retried tool call counts once.
public record BatchProgress(
    int total, int completed, int succeeded, int failed, long tokens, long toolCalls) {

  /// No progress yet, of `total` sub-agents.
  static BatchProgress none(int total) {
    return new BatchProgress(total, 0, 0, 0, 0, 0);
  }

  /// The progress of these threads, which may be fewer than were announced.
  static BatchProgress of(int announced, List<SubagentThread> threads) {
    var sum = none(Math.max(announced, threads.size()));
    for (var thread : threads) {
      sum = sum.plusEnd(thread.status()).plusWork(thread);
    }
    return sum;
  }

  private BatchProgress plusEnd(TaskState status) {
    if (!status.terminal()) {
      return this;
    }
    var well = status == TaskState.COMPLETED ? 1 : 0;
    return new BatchProgress(
        total, completed + 1, succeeded + well, failed + 1 - well, tokens, toolCalls);
  }

  private BatchProgress plusWork(SubagentThread thread) {
    var newTokens = tokens;
    var newCalls = toolCalls;
    for (var item : thread.items()) {
      switch (item) {
        case Plain(var entry) -> {
          if (entry.event() instanceof Usage usage) {
            newTokens += usage.totalTokens();
          } else if (entry.event() instanceof ToolStart start) {
            newCalls += first(start);
          }
        }
        case SubagentGroup(var trigger, _, var below) -> {
          newTokens += below.tokens();
          newCalls += below.toolCalls();
          newCalls += trigger.event() instanceof ToolStart start ? first(start) : 0;
        }
      }
    }
    return new BatchProgress(total, completed, succeeded, failed, newTokens, newCalls);
  }

  private static int first(ToolStart start) {
    var attempt = start.attempt();
    return attempt == null || attempt <= 1 ? 1 : 0;
  }
}
