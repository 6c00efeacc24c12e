package dev.parley.app;

import java.util.concurrent.CompletableFuture;

/// Ends something when another process is gone: programs that start servers may be killed, and cannot
/// stop them then.
final class ParentWatch {

  /// The number of the process to watch.
  static final String VARIABLE = "PARLEY_PARENT_PID";

  private ParentWatch() {}

  /// Runs `action` once when the process is gone, or at once if it is gone already.
  static void start(long pid, Runnable action) {
    var gone =
        ProcessHandle.of(pid)
            .map(ProcessHandle::onExit)
            .orElseGet(() -> CompletableFuture.completedFuture(null));
    // Not on the JDK's thread for this: it would wait for itself if the action ended the program.
    var _ =
        gone.thenRun(() -> Thread.ofPlatform().daemon().name("parley-parent-gone").start(action));
  }
}
