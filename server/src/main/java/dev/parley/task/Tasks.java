package dev.parley.task;

import dev.parley.protocol.ContextId;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.ToolCallId;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/// Accepts work, runs it, stops it, and takes it up again after a restart.
@SuppressWarnings("DoNotCallSuggester")
public final class Tasks implements AutoCloseable {

  /// Puts a message and its task into the log in one step, and starts or queues the task.
  public Accepted submit(Submission submission) {
    throw new IllegalStateException();
  }

  /// Asks that a task and everything below it stop. Returns once that is durable; no-op if it ended.
  public void cancel(ContextId context, TaskId task, String principal, @Nullable String reason) {
    throw new IllegalStateException();
  }

  /// Ends one running tool call; its task goes on.
  public void cancelTool(ContextId context, TaskId task, ToolCallId call) {
    throw new IllegalStateException();
  }

  /// Cancels every task of a context and returns when all have ended.
  public void cancelAll(ContextId context, String reason) {
    throw new IllegalStateException();
  }

  /// Takes up every task that the last run of the server left open.
  public void recover() {
    throw new IllegalStateException();
  }

  /// How many tasks run now.
  public int running() {
    throw new IllegalStateException();
  }

  /// Takes no more work and waits for what runs, at most `patience`; the rest is handed back.
  public void drain(Duration patience) {
    throw new IllegalStateException();
  }

  @Override
  public void close() {}
}
