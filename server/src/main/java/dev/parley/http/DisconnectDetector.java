package dev.parley.http;

import dev.parley.runtime.Threads;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.System.Logger.Level;
import java.nio.channels.CancelledKeyException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;

/// Detects that readers of streams may have disconnected.
///
/// While the server writes a stream, it does not read from the connection. It would notice a closed
/// connection only when a heartbeat fails, or never if there are none. One thread therefore waits
/// for all these connections to become readable, which they do when they are closed. It reads
/// nothing: a write shows whether the reader has really disconnected.
final class DisconnectDetector implements AutoCloseable {

  private static final System.Logger LOG = System.getLogger(DisconnectDetector.class.getName());

  /// How long the descriptor of a closed connection may stay open.
  private static final long LOOK_MILLIS = 1_000;

  private static final int ATTEMPTS_MAX = 100;

  private final Selector selector;
  private final Thread thread;

  /// How often the selector has returned; -1 when it is closed. The monitor guards it.
  private long passes;

  DisconnectDetector(Threads threads) {
    try {
      selector = Selector.open();
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
    thread = threads.startPlatform("parley-disconnects", this::selectLoop);
  }

  /// Calls `left` once when the other side may have closed the connection. The returned action
  /// stops watching.
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
          // An earlier stream on the connection was cancelled, which takes effect at the selector's
          // next pass.
          awaitPass();
        }
      }
      LOG.log(
          Level.DEBUG, "cannot watch {0}: a disconnect is detected only by a write", connection);
    } catch (ClosedChannelException | ClosedSelectorException over) {
      // The connection is already closed.
    } catch (InterruptedException told) {
      Thread.currentThread().interrupt();
    }
    return () -> {};
  }

  private synchronized void awaitPass() throws InterruptedException {
    var before = passes;
    selector.wakeup();
    while (passes == before && before >= 0) {
      wait();
    }
  }

  private synchronized void passed(boolean last) {
    passes = last ? -1 : passes + 1;
    notifyAll();
  }

  private void selectLoop() {
    try {
      while (selector.isOpen()) {
        selector.select(
            key -> {
              var left = (Runnable) key.attachment();
              key.cancel();
              left.run();
            },
            LOOK_MILLIS);
        passed(false);
      }
    } catch (IOException failed) {
      LOG.log(
          Level.WARNING,
          "disconnect detection stopped: disconnects are detected only by writes from now on",
          failed);
    } catch (ClosedSelectorException closed) {
      // The server stops.
    } finally {
      passed(true);
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
