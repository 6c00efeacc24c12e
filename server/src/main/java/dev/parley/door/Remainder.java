package dev.parley.door;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.io.Content;
import org.eclipse.jetty.server.Request;

/// What nobody wants of a request's body, because the answer is known without it. For one thread.
///
/// A connection that is closed while more is on its way is reset, and with it goes the answer that its caller, who is
/// still sending, has not read. So after the answer what comes is read and thrown away, but not for long.
final class Remainder {

  /// How long nothing may come.
  private static final Duration QUIET = Duration.ofSeconds(1);

  private static final Duration LONGEST = Duration.ofSeconds(5);

  /// How often is read before the answer: who sends without end is not to wait for it without end.
  private static final int READS_MAX = 64;

  private final Request request;

  Remainder(Request request) {
    this.request = request;
  }

  /// Throws away what has come. False if more will, or may.
  boolean skip() {
    for (var reads = 0; reads < READS_MAX; reads++) {
      var chunk = request.read();
      if (chunk == null) {
        return false;
      }
      if (isLast(chunk)) {
        return !Content.Chunk.isFailure(chunk);
      }
    }
    return false;
  }

  /// Throws away what comes, until all has or it has taken too long.
  void linger() {
    if (request.getHeaders().contains(HttpHeader.EXPECT)) {
      // The caller sends it only if it is asked to, and would take this for that.
      return;
    }
    var deadline = System.nanoTime() + LONGEST.toNanos();
    try {
      while (System.nanoTime() < deadline) {
        var chunk = request.read();
        if (chunk != null && isLast(chunk)) {
          return;
        }
        if (chunk == null && !await()) {
          return;
        }
      }
    } catch (InterruptedException told) {
      Thread.currentThread().interrupt();
    }
  }

  private boolean await() throws InterruptedException {
    var came = new CountDownLatch(1);
    request.demand(came::countDown);
    return came.await(QUIET.toMillis(), TimeUnit.MILLISECONDS);
  }

  private static boolean isLast(Content.Chunk chunk) {
    chunk.release();
    return chunk.isLast() || Content.Chunk.isFailure(chunk);
  }
}
