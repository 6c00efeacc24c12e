package dev.parley.model;

import java.io.IOException;
import java.net.http.HttpResponse.BodySubscriber;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow.Subscription;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/// The body of a response while it is received.
///
/// The HTTP client reads one portion ahead of the single reading thread. The lock guards the
/// subscription. Closing the stream before its end closes the connection.
final class ResponseBodyStream implements BodySubscriber<ResponseBodyStream>, AutoCloseable {

  /// Bytes, or the end of the body, with a reason if it failed.
  private sealed interface Item {

    record Bytes(List<ByteBuffer> buffers) implements Item {}

    record End(@Nullable Throwable reason) implements Item {}
  }

  private final BlockingQueue<Item> items = new LinkedBlockingQueue<>();
  private @Nullable Subscription subscription;
  private boolean closed;
  private boolean ended;

  @Override
  public CompletionStage<ResponseBodyStream> getBody() {
    return CompletableFuture.completedStage(this);
  }

  @Override
  public synchronized void onSubscribe(Subscription given) {
    if (closed) {
      given.cancel();
    } else {
      subscription = given;
      given.request(1);
    }
  }

  @Override
  public void onNext(List<ByteBuffer> buffers) {
    items.add(new Item.Bytes(buffers));
  }

  @Override
  public void onError(Throwable reason) {
    items.add(new Item.End(reason));
  }

  @Override
  public void onComplete() {
    items.add(new Item.End(null));
  }

  /// Returns the next bytes, or an empty list at the end.
  ///
  /// @throws TimeoutException if nothing arrives within `patience`
  List<ByteBuffer> next(Duration patience)
      throws IOException, TimeoutException, InterruptedException {
    if (ended) {
      return List.of();
    }
    return switch (items.poll(patience.toNanos(), TimeUnit.NANOSECONDS)) {
      case null -> throw new TimeoutException();
      case Item.Bytes(var buffers) -> {
        request();
        yield buffers;
      }
      case Item.End(var reason) -> {
        ended = true;
        if (reason != null) {
          throw new IOException(reason);
        }
        yield List.of();
      }
    };
  }

  private synchronized void request() {
    if (subscription != null) {
      subscription.request(1);
    }
  }

  @Override
  public synchronized void close() {
    closed = true;
    if (subscription != null) {
      subscription.cancel();
    }
  }
}
