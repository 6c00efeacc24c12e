package dev.parley.tool.process;

import dev.parley.runtime.Time;
import java.io.InputStream;
import java.io.OutputStream;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;

/// A running child process. Closing it stops the process and all processes that it started.
///
/// Its streams must be read on platform threads: virtual threads that wait for pipes block their
/// carriers. Safe for use by many threads.
public final class ManagedProcess implements AutoCloseable {

  /// How long a process may take to end after it is asked to. Shorter than the grace period of a
  /// canceled call.
  public static final Duration GRACE = Duration.ofMillis(500);

  private final Process process;
  private final ProcessTree tree;
  private final boolean excluded;
  private final ProcessSnapshots processSnapshots;
  private final Runnable whenGone;
  // Notified when the process ends.
  private final Object exit = new Object();
  private volatile boolean gone;

  ManagedProcess(
      Process process,
      ProcessTree tree,
      boolean excluded,
      ProcessSnapshots processSnapshots,
      Runnable whenGone) {
    this.process = process;
    this.tree = tree;
    this.excluded = excluded;
    this.processSnapshots = processSnapshots;
    this.whenGone = whenGone;
    var _ =
        process
            .onExit()
            .thenRun(
                () -> {
                  synchronized (exit) {
                    exit.notifyAll();
                  }
                });
  }

  /// The process id.
  public long pid() {
    return process.pid();
  }

  /// The standard input of the process.
  public OutputStream input() {
    return process.getOutputStream();
  }

  /// The standard output of the process.
  public InputStream output() {
    return process.getInputStream();
  }

  /// The standard error of the process, if it is separate.
  public InputStream errors() {
    return process.getErrorStream();
  }

  /// True if the process has not ended; the processes that it started do not matter.
  public boolean alive() {
    return process.isAlive();
  }

  /// Waits for the end of the process. False if `patience` ran out first.
  public boolean await(Duration patience) throws InterruptedException {
    return process.waitFor(patience.toNanos(), TimeUnit.NANOSECONDS);
  }

  /// Waits for the end of the process. False if [Time#nanos] reached `deadline` first.
  public boolean awaitUntil(Time time, long deadline) throws InterruptedException {
    synchronized (exit) {
      while (process.isAlive()) {
        if (time.remaining(deadline) <= 0) {
          return false;
        }
        time.waitUntil(exit, deadline);
      }
      return true;
    }
  }

  /// The exit code: 0 is success, 128 and more is a signal.
  ///
  /// @throws IllegalThreadStateException if the process has not ended
  public int exitCode() {
    return process.exitValue();
  }

  /// Stops the process and all processes that it started: first asks them, then kills them, within
  /// a few seconds.
  ///
  /// An interrupt does not shorten this, and is kept. The output can be read to the end afterwards.
  @Override
  public void close() {
    if (!gone && ProcessTree.end(List.of(tree), processSnapshots)) {
      gone = true;
      whenGone.run();
    }
  }

  /// True if its requests to this server are rejected.
  boolean excluded() {
    return excluded;
  }

  ProcessTree tree() {
    return tree;
  }
}
