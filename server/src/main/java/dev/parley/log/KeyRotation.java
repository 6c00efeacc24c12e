package dev.parley.log;

import dev.parley.encryption.KeyRing.NewWrappingKey;
import dev.parley.protocol.Rejection;
import dev.parley.runtime.Time;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.sql.SQLException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/// Wraps the keys of all contexts with a new wrapping key, in short steps between commits, and then
/// deletes the earlier wrapping keys. For the writer thread, except [#request], [#running] and
/// [#failed].
///
/// The store knows which keys are left, so the next process continues an interrupted rotation.
final class KeyRotation {

  private static final Logger LOG = System.getLogger(KeyRotation.class.getName());
  private static final int KEYS_AT_ONCE = 64;
  private static final long RETRY_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final WriterConnection store;
  private final Time time;
  private final Runnable wake;
  private volatile @Nullable NewWrappingKey requested;
  private volatile boolean running;
  private final AtomicLong failed = new AtomicLong();
  private boolean begun;
  private long after;
  private long next;

  /// `wake` makes the writer run a step soon; other threads call it.
  KeyRotation(WriterConnection store, Time time, Runnable wake) {
    this.store = store;
    this.time = time;
    this.wake = wake;
    this.next = time.nanos();
  }

  /// Continues a rotation that an earlier process did not finish.
  void resume(boolean unfinished) {
    running = unfinished;
    begun = unfinished;
  }

  /// Begins a rotation.
  synchronized void request(NewWrappingKey fresh) {
    if (running) {
      throw new Rejection.Conflict("rotation-running", "the keys are being wrapped again already");
    }
    requested = fresh;
    running = true;
    wake.run();
  }

  /// True while keys are left.
  boolean running() {
    return running;
  }

  /// How many keys the last rotation could not wrap again.
  long failed() {
    return failed.get();
  }

  /// How long the writer may wait for other work; negative if there is nothing to do.
  long idleNanos() {
    return running ? Math.max(0, next - time.nanos()) : -1;
  }

  /// Runs the next step, if it is due.
  void step() {
    if (!running || next - time.nanos() > 0) {
      return;
    }
    try {
      rewrapSome();
    } catch (SQLException later) {
      LOG.log(
          Level.WARNING, "wrapping keys again failed and will be retried: {0}", later.getMessage());
      store.close();
      next = time.nanos() + RETRY_NANOS;
    } catch (RuntimeException bug) {
      LOG.log(Level.ERROR, "keys cannot be wrapped again", bug);
      store.close();
      end();
    }
  }

  private void rewrapSome() throws SQLException {
    var fresh = requested;
    if (!begun && fresh != null) {
      // If the outcome of this is unknown, a repetition only adds one more key.
      store.writer().addWrappingKey(fresh);
      begun = true;
      after = 0;
      failed.set(0);
      return;
    }
    var rewrapped = store.writer().rewrapKeys(after, KEYS_AT_ONCE);
    after = rewrapped.last();
    failed.addAndGet(rewrapped.failed());
    if (!rewrapped.complete()) {
      return;
    }
    if (failed.get() == 0) {
      store.writer().deleteOldWrappingKeys();
      LOG.log(Level.INFO, "the keys of all contexts are wrapped with a new wrapping key");
    } else {
      LOG.log(
          Level.WARNING,
          "{0} keys are damaged and could not be wrapped again; the earlier wrapping keys are kept",
          failed.get());
    }
    end();
  }

  private void end() {
    begun = false;
    after = 0;
    requested = null;
    running = false;
  }
}
