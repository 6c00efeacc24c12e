package dev.parley.agent;

import dev.parley.protocol.ToolCallId;
import dev.parley.task.Run;
import dev.parley.tool.PlatformThreads;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// The threads on which the calls of a turn run, side by side. Its lock guards which do.
final class Crew implements AutoCloseable {

  /// How long threads that were interrupted are waited for: a little longer than their tools are.
  private static final Duration PATIENCE = PlatformThreads.GRACE.plusSeconds(1);

  /// Something to do that an interrupt ends.
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

  /// Does the work of a call on a thread of its own, until it is done or somebody cancels the call.
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
      // The call was canceled or the run stopped; whoever did that writes what is to be written.
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

  /// The calls that run.
  synchronized Set<ToolCallId> calls() {
    return Set.copyOf(members.keySet());
  }

  /// True if a call that may run beside others, or not, can start now.
  synchronized boolean hasRoom(boolean concurrent, int max) {
    return members.isEmpty()
        || (concurrent
            && members.size() < max
            && members.values().stream().allMatch(Member::concurrent));
  }

  /// Throws what broke a call's thread, if something did: not the tool, but the writing of its result.
  synchronized void check() {
    if (failure != null) {
      throw failure;
    }
  }

  /// Interrupts what still runs and waits for it a little.
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
