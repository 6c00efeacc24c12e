package dev.parley.task;

import dev.parley.protocol.Rejection;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/// Performs appends that must not be lost: retries while the store is unavailable, until the server
/// stops.
final class RetryingWriter implements AutoCloseable {

  private static final Duration RETRY_PAUSE = Duration.ofMillis(500);

  private final CountDownLatch closed = new CountDownLatch(1);

  /// Performs the append with retries. Returns the code of the conflict that rejected it, or an
  /// empty string.
  String conflictCode(Runnable append) {
    var code = new String[] {"closed"};
    write(
        () -> {
          try {
            append.run();
            code[0] = "";
          } catch (Rejection.Conflict refused) {
            code[0] = refused.code();
          }
          return true;
        });
    return code[0];
  }

  /// Retries until the store accepts the append or the server stops: a task must not hang because a
  /// disk was full. False if the log rejects the append, or the server stops; then the next start
  /// ends the task.
  boolean write(BooleanSupplier write) {
    while (true) {
      try {
        return write.getAsBoolean();
      } catch (Rejection.Unavailable storeDown) {
        try {
          if (closed.await(RETRY_PAUSE.toMillis(), TimeUnit.MILLISECONDS)) {
            return false;
          }
        } catch (InterruptedException stopped) {
          Thread.currentThread().interrupt();
          return false;
        }
      } catch (Rejection.Conflict | Rejection.NotFound | Rejection.Gone | Rejection.Stale refused) {
        return false;
      }
    }
  }

  boolean closed() {
    return closed.getCount() == 0;
  }

  @Override
  public void close() {
    closed.countDown();
  }
}
