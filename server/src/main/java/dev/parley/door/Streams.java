package dev.parley.door;

import dev.parley.protocol.Rejection;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/// The streams that are open: how many there may be, and how to end them all.
public final class Streams {

  private final Set<Open> open = ConcurrentHashMap.newKeySet();
  private final AtomicBoolean ending = new AtomicBoolean();
  private final Semaphore free;
  private final int max;

  public Streams(int max) {
    this.max = max;
    this.free = new Semaphore(max);
  }

  /// How many are open.
  public int count() {
    return max - free.availablePermits();
  }

  /// Takes a place for a stream that runs on one thread, until it is closed.
  ///
  /// @throws Rejection.Busy if there is none
  public Open open() {
    if (!free.tryAcquire()) {
      throw new Rejection.Busy("too-many-streams", "there are " + max + " streams already");
    }
    var stream = new Open();
    open.add(stream);
    if (ending.get()) {
      stream.end();
    }
    return stream;
  }

  /// Ends every stream, also those that come later, without cutting a frame.
  public void end() {
    ending.set(true);
    open.forEach(Open::end);
  }

  /// Something that waits, and may be told to stop.
  @FunctionalInterface
  public interface Wait {
    /// What there is to wait for; false if it did not come.
    boolean run() throws InterruptedException;
  }

  /// A stream's place.
  ///
  /// Its thread is interrupted only while it waits for events, never while it writes: that would cut a
  /// frame. Its monitor guards `waiting`.
  public final class Open implements AutoCloseable {
    private boolean ended;
    private @Nullable Thread waiting;

    /// True once the stream must end.
    public synchronized boolean ended() {
      return ended;
    }

    /// What `wait` returns; false if the stream must end.
    public boolean await(Wait wait) {
      synchronized (this) {
        if (ended) {
          return false;
        }
        waiting = Thread.currentThread();
      }
      try {
        return wait.run();
      } catch (InterruptedException told) {
        end();
        return false;
      } finally {
        synchronized (this) {
          waiting = null;
          if (ended) {
            // The interrupt may have come when the wait was already over; the writes that follow
            // must not find it.
            Thread.interrupted();
          }
        }
      }
    }

    /// Tells the stream to end, soon.
    public synchronized void end() {
      ended = true;
      if (waiting != null && !waiting.equals(Thread.currentThread())) {
        waiting.interrupt();
      }
    }

    @Override
    public void close() {
      if (open.remove(this)) {
        free.release();
      }
    }
  }
}
