package dev.parley.log;

import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/// Holds back queries briefly, so that the writer can truncate the write-ahead log.
///
/// Without this, overlapping readers would keep it in use for ever. The writer closes the gate,
/// gets a callback when the last running query has ended, truncates the log and opens the gate. The
/// writer does not wait: it commits appends meanwhile.
final class ReaderGate {

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition opened = lock.newCondition();

  // Guarded by lock.
  private int running;
  private boolean closed;
  private @Nullable Runnable whenIdle;

  /// Begins a query. Waits while the gate is closed.
  void enter() {
    lock.lock();
    try {
      while (closed) {
        opened.awaitUninterruptibly();
      }
      running++;
    } finally {
      lock.unlock();
    }
  }

  /// Ends a query.
  void leave() {
    Runnable call = null;
    lock.lock();
    try {
      running--;
      if (running == 0) {
        call = whenIdle;
        whenIdle = null;
      }
    } finally {
      lock.unlock();
    }
    if (call != null) {
      call.run();
    }
  }

  /// Blocks new queries. Calls `whenIdle` on a reader thread when the last running query has ended.
  void close(Runnable whenIdle) {
    lock.lock();
    try {
      closed = true;
      this.whenIdle = whenIdle;
    } finally {
      lock.unlock();
    }
  }

  /// True if no query is running.
  boolean idle() {
    lock.lock();
    try {
      return running == 0;
    } finally {
      lock.unlock();
    }
  }

  /// Allows new queries again.
  void open() {
    lock.lock();
    try {
      closed = false;
      whenIdle = null;
      opened.signalAll();
    } finally {
      lock.unlock();
    }
  }
}
