package dev.parley.agent;

import dev.parley.protocol.ToolCallId;
import dev.parley.task.TaskRun;
import dev.parley.tool.PlatformThreads;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// The threads on which the tool calls of a turn run in parallel. The lock guards the set of
/// running calls.
final class ToolThreads implements AutoCloseable {

  /// How long [#close] waits for interrupted threads: a little longer than the grace period of
  /// tools.
  private static final Duration CLOSE_TIMEOUT = PlatformThreads.GRACE.plusSeconds(1);

  /// The work of a call, which an interrupt ends.
  interface ToolCallWork {
    void run() throws InterruptedException;
  }

  private record RunningCall(Thread thread, boolean concurrent) {}

  private final TaskRun taskRun;
  private final Map<ToolCallId, RunningCall> runningCalls = new HashMap<>();
  private @Nullable RuntimeException failure;

  ToolThreads(TaskRun taskRun) {
    this.taskRun = taskRun;
  }

  /// Runs the work of a call on its own thread, until it is done or the call is canceled.
  void start(ToolCallId call, boolean concurrent, ToolCallWork toolCallWork) {
    var thread =
        taskRun.sources().threads().unstarted("tool-" + call, () -> perform(call, toolCallWork));
    synchronized (this) {
      runningCalls.put(call, new RunningCall(thread, concurrent));
    }
    // Registered before the start: a thread that ends at once must not be registered afterwards.
    taskRun
        .calls()
        .register(
            call,
            () -> {
              leave(call, thread);
              thread.interrupt();
            });
    if (calls().contains(call)) {
      thread.start();
    }
  }

  private void perform(ToolCallId call, ToolCallWork toolCallWork) {
    try {
      toolCallWork.run();
    } catch (InterruptedException stopped) {
      // The call was canceled or the run stopped; the code that stopped it writes the end.
    } catch (RuntimeException broken) {
      fail(broken);
    } finally {
      leave(call, Thread.currentThread());
      taskRun.calls().unregister(call);
      taskRun.signal();
    }
  }

  private synchronized void fail(RuntimeException broken) {
    failure = broken;
  }

  private synchronized void leave(ToolCallId call, Thread thread) {
    var runningCall = runningCalls.get(call);
    if (runningCall != null && runningCall.thread().equals(thread)) {
      runningCalls.remove(call);
      notifyAll();
    }
  }

  /// The running calls.
  synchronized Set<ToolCallId> calls() {
    return Set.copyOf(runningCalls.keySet());
  }

  /// True if a call can start now, given whether it may run in parallel.
  synchronized boolean hasRoom(boolean concurrent, int max) {
    return runningCalls.isEmpty()
        || (concurrent
            && runningCalls.size() < max
            && runningCalls.values().stream().allMatch(RunningCall::concurrent));
  }

  /// Throws the exception that ended a call's thread, if any: not a failure of the tool, but of the
  /// append of its result.
  synchronized void check() {
    if (failure != null) {
      throw failure;
    }
  }

  /// Interrupts the running calls and waits a limited time for them.
  @Override
  public void close() {
    var interrupted = Thread.interrupted();
    synchronized (this) {
      runningCalls.values().forEach(runningCall -> runningCall.thread().interrupt());
      var time = taskRun.sources().time();
      var deadline = time.deadline(CLOSE_TIMEOUT);
      while (!runningCalls.isEmpty() && time.remaining(deadline) > 0) {
        try {
          time.waitUntil(this, deadline);
        } catch (InterruptedException again) {
          interrupted = true;
        }
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
