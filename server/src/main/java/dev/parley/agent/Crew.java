package dev.parley.agent;

import dev.parley.protocol.ToolCallId;
import dev.parley.task.Run;
import dev.parley.tool.PlatformThreads;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// The threads on which the tool calls of a turn run in parallel. The lock guards the set of
/// running calls.
final class Crew implements AutoCloseable {

  /// How long [#close] waits for interrupted threads: a little longer than the grace period of
  /// tools.
  private static final Duration PATIENCE = PlatformThreads.GRACE.plusSeconds(1);

  /// The work of a call, which an interrupt ends.
  interface Work {
    void run() throws InterruptedException;
  }

  private record Member(Thread thread, boolean concurrent) {}

  private final Run run;
  private final Map<ToolCallId, Member> members = new HashMap<>();
  private @Nullable RuntimeException failure;

  Crew(Run run) {
    this.run = run;
  }

  /// Runs the work of a call on its own thread, until it is done or the call is canceled.
  void start(ToolCallId call, boolean concurrent, Work work) {
    var thread = Thread.ofVirtual().name("tool-" + call).unstarted(() -> perform(call, work));
    synchronized (this) {
      members.put(call, new Member(thread, concurrent));
    }
    thread.start();
    run.enterCall(
        call,
        () -> {
          leave(call, thread);
          thread.interrupt();
        });
  }

  private void perform(ToolCallId call, Work work) {
    try {
      work.run();
    } catch (InterruptedException stopped) {
      // The call was canceled or the run stopped; the code that stopped it writes the end.
    } catch (RuntimeException broken) {
      fail(broken);
    } finally {
      leave(call, Thread.currentThread());
      run.leaveCall(call);
      run.signal();
    }
  }

  private synchronized void fail(RuntimeException broken) {
    failure = broken;
  }

  private synchronized void leave(ToolCallId call, Thread thread) {
    var member = members.get(call);
    if (member != null && member.thread().equals(thread)) {
      members.remove(call);
      notifyAll();
    }
  }

  /// The running calls.
  synchronized Set<ToolCallId> calls() {
    return Set.copyOf(members.keySet());
  }

  /// True if a call can start now, given whether it may run in parallel.
  synchronized boolean hasRoom(boolean concurrent, int max) {
    return members.isEmpty()
        || (concurrent
            && members.size() < max
            && members.values().stream().allMatch(Member::concurrent));
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
      members.values().forEach(member -> member.thread().interrupt());
      var end = System.nanoTime() + PATIENCE.toNanos();
      while (!members.isEmpty() && System.nanoTime() < end) {
        try {
          wait(Math.max(1, (end - System.nanoTime()) / 1_000_000));
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
