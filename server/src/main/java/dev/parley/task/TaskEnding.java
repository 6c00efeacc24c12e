package dev.parley.task;

import dev.parley.protocol.ContentEvent.FinishReason;
import dev.parley.protocol.Id;
import dev.parley.protocol.ReportEvent.ErrorCode;
import dev.parley.protocol.ReportEvent.ErrorReported;
import dev.parley.protocol.ReportEvent.ErrorScope;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.ToolEvent;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// How a task ends that does not succeed, and how its open blocks and calls end. `result`, if set,
/// is added to the metadata of the last status. `questionId`, if set, restricts the ending: it
/// applies only while that question is open.
record TaskEnding(
    TaskState state,
    String reason,
    FinishReason blocks,
    ToolEvent.Outcome calls,
    @Nullable ErrorReported error,
    @Nullable ObjectNode result,
    @Nullable Id questionId) {

  /// The server is stopping: the task does not end, and the next start resumes it.
  static final TaskEnding SERVER_STOPPING = interrupted("handed back");

  static TaskEnding canceled(@Nullable String reason) {
    return new TaskEnding(
        TaskState.CANCELED,
        reason == null ? "canceled" : reason,
        FinishReason.CANCELED,
        ToolEvent.Outcome.CANCELED,
        null,
        null,
        null);
  }

  static TaskEnding interrupted() {
    return interrupted("the server stopped before the task was done");
  }

  static TaskEnding crashed(int times) {
    return failed(
        ErrorCode.CRASHED,
        "the server crashed %d times while this task was running".formatted(times),
        false);
  }

  private static TaskEnding interrupted(String message) {
    return failed(ErrorCode.INTERRUPTED, message, true);
  }

  static TaskEnding timedOut(Duration timeout) {
    return failed(
        ErrorCode.TIMEOUT, "the task took longer than " + timeout.toMillis() + " ms", true);
  }

  /// The task has used up a budget.
  static TaskEnding overBudget(String message) {
    return failed(ErrorCode.LIMIT, message, false);
  }

  static TaskEnding failed(ErrorCode code, String message, boolean retryable) {
    return new TaskEnding(
        TaskState.FAILED,
        code == ErrorCode.INTERRUPTED || code == ErrorCode.TIMEOUT || code == ErrorCode.CRASHED
            ? code.wire()
            : message,
        FinishReason.INTERRUPTED,
        ToolEvent.Outcome.INTERRUPTED,
        new ErrorReported(code, message, retryable, ErrorScope.TASK, null),
        null,
        null);
  }

  /// The same ending with this result.
  TaskEnding withResult(@Nullable ObjectNode added) {
    return new TaskEnding(state, reason, blocks, calls, error, added, questionId);
  }

  /// The same ending, which applies only while this question is open.
  TaskEnding unlessAnswered(Id asked) {
    return new TaskEnding(state, reason, blocks, calls, error, result, asked);
  }

  /// The same ending without that restriction.
  TaskEnding unconditional() {
    return new TaskEnding(state, reason, blocks, calls, error, result, null);
  }
}
