package dev.parley.tool;

import java.io.ByteArrayOutputStream;
import java.net.http.HttpResponse.BodySubscriber;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import org.jspecify.annotations.Nullable;

/// Reads the beginning of the body of a response, and closes the connection when the limit is
/// reached.
///
/// For the one thread at a time that the HTTP client uses.
final class LimitedBody implements BodySubscriber<LimitedBody.BodyBytes> {

  /// The bytes; `whole` if they are the complete body.
  @SuppressWarnings("ArrayRecordComponent") // Never compared, and never changed.
  record BodyBytes(byte[] bytes, boolean whole) {}

  private final int max;
  private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
  private final CompletableFuture<BodyBytes> result = new CompletableFuture<>();
  private Flow.@Nullable Subscription subscription;

  LimitedBody(int max) {
    this.max = max;
  }

  @Override
  public CompletionStage<BodyBytes> getBody() {
    return result;
  }

  @Override
  public void onSubscribe(Flow.Subscription given) {
    subscription = given;
    given.request(Long.MAX_VALUE);
  }

  @Override
  public void onNext(List<ByteBuffer> buffers) {
    for (var buffer : buffers) {
      var some = new byte[Math.min(buffer.remaining(), max - bytes.size())];
      var rest = buffer.remaining() - some.length;
      buffer.get(some);
      bytes.writeBytes(some);
      if (rest > 0) {
        if (subscription != null) {
          subscription.cancel();
        }
        result.complete(new BodyBytes(bytes.toByteArray(), false));
        return;
      }
    }
  }

  @Override
  public void onError(Throwable failure) {
    result.completeExceptionally(failure);
  }

  @Override
  public void onComplete() {
    result.complete(new BodyBytes(bytes.toByteArray(), true));
  }
}
