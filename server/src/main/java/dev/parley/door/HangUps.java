package dev.parley.door;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.System.Logger.Level;
import java.nio.channels.CancelledKeyException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

/// Notices that readers of streams may have left.
///
/// Nobody reads from a connection while a stream is written to it, so that a reader who has closed it
/// would be missed only when a heartbeat fails, or never if there are none. One thread waits for all of
/// these connections to become readable, which is so when they are closed. Reads nothing: whether the
/// reader has really left, a write tells.
final class HangUps implements AutoCloseable {

  private static final System.Logger LOG = System.getLogger(HangUps.class.getName());

  /// How long the descriptor of a closed connection may be kept.
  private static final long LOOK_MILLIS = 1_000;

  private static final int ATTEMPTS_MAX = 100;
  private static final Duration ATTEMPT_PAUSE = Duration.ofMillis(1);

  private final Selector selector;
  private final Thread thread;

  HangUps() {
    try {
      selector = Selector.open();
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
    thread = Thread.ofPlatform().daemon().name("parley-hang-ups").start(this::look);
  }

  /// Calls `left` once when the other side may have closed the connection, until that is called off.
  Runnable watch(SocketChannel connection, Runnable left) {
    try {
      for (var attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
        try {
          var key = connection.register(selector, SelectionKey.OP_READ, left);
          selector.wakeup();
          return () -> {
            key.cancel();
            selector.wakeup();
          };
        } catch (CancelledKeyException earlier) {
          // An earlier stream on the connection was called off, which takes effect when the
          // selector
          // has looked.
          selector.wakeup();
          LockSupport.parkNanos(ATTEMPT_PAUSE.toNanos());
        }
      }
      LOG.log(Level.DEBUG, "a reader who leaves will be noticed late: {0}", connection);
    } catch (ClosedChannelException | ClosedSelectorException over) {
      // There is nobody who could leave.
    }
    return () -> {};
  }

  private void look() {
    try {
      while (selector.isOpen()) {
        selector.select(
            key -> {
              var left = (Runnable) key.attachment();
              key.cancel();
              left.run();
            },
            LOOK_MILLIS);
      }
    } catch (IOException failed) {
      LOG.log(Level.WARNING, "readers who leave are noticed late from now on", failed);
    } catch (ClosedSelectorException closed) {
      // The server stops.
    }
  }

  @Override
  public void close() {
    try {
      selector.close();
      thread.join();
    } catch (IOException failed) {
      LOG.log(Level.DEBUG, "the selector did not close", failed);
    } catch (InterruptedException told) {
      Thread.currentThread().interrupt();
    }
  }
}
