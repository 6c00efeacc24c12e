package dev.parley.api.contexts.workflow;

import dev.parley.protocol.TaskId;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.ToolCallId;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// The sub-agents that one call spawned, and their progress. For one thread.
final class SubagentBatch {

  private final @Nullable ToolCallId call;
  private final Set<TaskId> created = new HashSet<>();
  private final Map<TaskId, TaskState> ended = new HashMap<>();
  private int announced;
  private long tokens;
  private long toolCalls;

  SubagentBatch(@Nullable ToolCallId call) {
    this.call = call;
  }

  /// The state of a batch at one position of the log. `failed` includes the `cancelled` ones.
  record BatchStatus(
      @Nullable ToolCallId call,
      int total,
      int completed,
      int success,
      int cancelled,
      long tokens,
      long toolCalls) {

    int failed() {
      return completed - success;
    }
  }

  @Nullable ToolCallId call() {
    return call;
  }

  void announce(int count) {
    announced = count;
  }

  void create(TaskId task) {
    created.add(task);
  }

  void remove(TaskId task) {
    created.remove(task);
  }

  void end(TaskId task, TaskState state) {
    ended.put(task, state);
  }

  void addUsage(long moreTokens, long moreCalls) {
    tokens += moreTokens;
    toolCalls += moreCalls;
  }

  BatchStatus status() {
    return new BatchStatus(
        call,
        Math.max(announced, created.size()),
        ended.size(),
        count(TaskState.COMPLETED),
        count(TaskState.CANCELED),
        tokens,
        toolCalls);
  }

  private int count(TaskState state) {
    return (int) ended.values().stream().filter(state::equals).count();
  }
}
