package dev.parley.task;

import dev.parley.protocol.ToolCallId;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/// The tool calls of a run that have begun and not ended. Thread-safe; a call is canceled outside
/// the lock.
public final class RunningCalls {

  private final Map<ToolCallId, Runnable> running = new HashMap<>();
  private final Set<ToolCallId> canceled = new HashSet<>();

  /// Registers what to do when this call is canceled, until [#unregister]. Does it immediately if
  /// the call was canceled before.
  public void register(ToolCallId call, Runnable onCancel) {
    synchronized (this) {
      if (!canceled.contains(call)) {
        running.put(call, onCancel);
        return;
      }
    }
    onCancel.run();
  }

  /// The call has ended.
  public synchronized void unregister(ToolCallId call) {
    running.remove(call);
  }

  void cancel(ToolCallId call) {
    Runnable onCancel;
    synchronized (this) {
      canceled.add(call);
      onCancel = running.remove(call);
    }
    if (onCancel != null) {
      onCancel.run();
    }
  }

  synchronized boolean isEmpty() {
    return running.isEmpty();
  }
}
