package dev.parley.app;

import java.util.concurrent.CompletableFuture;

/// Runs an action when another process has ended. A program that starts servers may be killed and
/// then cannot stop them.
final class ParentProcessMonitor {

  /// The environment variable with the process id to watch.
  static final String VARIABLE = "PARLEY_PARENT_PID";

  private ParentProcessMonitor() {}

  /// Runs `action` once when the process has ended, or now if it has ended already.
  static void start(long pid, Runnable action) {
    var gone =
        ProcessHandle.of(pid)
            .map(ProcessHandle::onExit)
            .orElseGet(() -> CompletableFuture.completedFuture(null));
    // Not on the JDK's own thread: it would wait for itself if the action ended the program.
    var _ =
        gone.thenRun(() -> Thread.ofPlatform().daemon().name("parley-parent-gone").start(action));
  }
}
