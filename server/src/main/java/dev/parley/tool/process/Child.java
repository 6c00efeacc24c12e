package dev.parley.tool.process;

import java.io.InputStream;
import java.io.OutputStream;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;

/// A running program of ours. Closing it ends the program and all that it started.
///
/// Whoever reads its streams does so on a platform thread: a few virtual threads that wait for pipes
/// would freeze all others. Safe for use by many threads.
public final class Child implements AutoCloseable {

  /// How long a process that is asked to end has for it. Shorter than what a canceled call has.
  public static final Duration GRACE = Duration.ofMillis(500);

  private final Process process;
  private final ProcessTree tree;
  private final Looks looks;
  private final Runnable whenGone;
  private volatile boolean gone;

  Child(Process process, ProcessTree tree, Looks looks, Runnable whenGone) {
    this.process = process;
    this.tree = tree;
    this.looks = looks;
    this.whenGone = whenGone;
  }

  /// The number of its process.
  public long pid() {
    return process.pid();
  }

  /// What it is told.
  public OutputStream input() {
    return process.getOutputStream();
  }

  /// What it says.
  public InputStream output() {
    return process.getInputStream();
  }

  /// What it says about errors, if that is apart.
  public InputStream errors() {
    return process.getErrorStream();
  }

  /// True if it has not ended, whatever became of those that it started.
  public boolean alive() {
    return process.isAlive();
  }

  /// Waits for its end. False if `patience` ran out first.
  public boolean await(Duration patience) throws InterruptedException {
    return process.waitFor(patience.toNanos(), TimeUnit.NANOSECONDS);
  }

  /// How it ended: 0 is well, 128 and more is by a signal.
  ///
  /// @throws IllegalThreadStateException if it has not
  public int exitCode() {
    return process.exitValue();
  }

  /// Ends it with all that it started, asked first and then by force, within a few seconds.
  ///
  /// An interrupt does not hurry it, and is kept. Its output can be read to the end afterwards.
  @Override
  public void close() {
    if (!gone && ProcessTree.end(List.of(tree), looks)) {
      gone = true;
      whenGone.run();
    }
  }

  ProcessTree tree() {
    return tree;
  }
}
