package dev.parley.http;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.io.Content;
import org.eclipse.jetty.server.Request;

/// The unread rest of a request's body, when the reply does not depend on it. For one thread.
///
/// If the server closes a connection while data is in transit, the connection is reset, and the
/// caller, which is still sending, loses the reply. So after the reply the server reads and
/// discards the rest, for a limited time.
final class UnreadBody {

  /// How long to wait for the next data.
  private static final Duration QUIET = Duration.ofSeconds(1);

  private static final Duration LONGEST = Duration.ofSeconds(5);

  /// The limit of reads before the reply: a caller that sends without end must get its reply, too.
  private static final int READS_MAX = 64;

  private final Request request;

  UnreadBody(Request request) {
    this.request = request;
  }

  /// Discards the data that has arrived. False if more may follow.
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

  /// Discards data until the body ends or the time is up.
  void drain() {
    if (request.getHeaders().contains(HttpHeader.EXPECT)) {
      // The caller sends the body only after a `100 Continue`, which reading would cause.
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
