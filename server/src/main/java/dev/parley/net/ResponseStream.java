package dev.parley.net;

import dev.parley.net.ServerSentEventStream.EventLimits;
import dev.parley.runtime.Time;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.http.HttpHeaders;
import java.net.http.HttpResponse.BodySubscriber;
import java.net.http.HttpResponse.ResponseInfo;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow.Subscription;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/// A response whose body is read while it is received. For one reading thread.
///
/// The HTTP client reads a few portions ahead. Closing the response before its end closes the
/// connection.
public final class ResponseStream implements AutoCloseable {

  private static final int PORTIONS_AHEAD = 8;

  private final Time time;
  private final int status;
  private final HttpHeaders headers;
  // The bytes of the last portion that were not yet read; only for the reading thread.
  private final Deque<ByteBuffer> current = new ArrayDeque<>();
  // The monitor guards these fields.
  private final Deque<List<ByteBuffer>> portions = new ArrayDeque<>();
  private @Nullable Subscription subscription;
  private @Nullable Throwable failure;
  private boolean ended;
  private boolean closed;

  ResponseStream(ResponseInfo info, Time time) {
    this.time = time;
    this.status = info.statusCode();
    this.headers = info.headers();
  }

  public int status() {
    return status;
  }

  public HttpHeaders headers() {
    return headers;
  }

  /// True if the body is a stream of server-sent events.
  public boolean hasEvents() {
    return headers
        .firstValue("Content-Type")
        .filter(type -> type.regionMatches(true, 0, "text/event-stream", 0, 17))
        .isPresent();
  }

  /// Reads the body as server-sent events. Closing them closes the response.
  public ServerSentEventStream events(EventLimits limits) {
    return new ServerSentEventStream(this, time, limits);
  }

  /// Reads at most `bytesMax` bytes: the rest of the body, or its beginning.
  byte[] read(int bytesMax, long deadline)
      throws IOException, TimeoutException, InterruptedException {
    var bytes = new ByteArrayOutputStream();
    readInto(bytes, bytesMax, deadline);
    return bytes.toByteArray();
  }

  /// Reads the rest of the body.
  ///
  /// @throws ResponseTooLargeException if it has more than `bytesMax` bytes
  /// @throws TimeoutException if that takes longer than `patience`
  public byte[] readAll(int bytesMax, Duration patience)
      throws IOException, TimeoutException, InterruptedException {
    var deadline = time.deadline(patience);
    var bytes = read(bytesMax, deadline);
    if (!atEnd(deadline)) {
      throw new ResponseTooLargeException("a response", bytesMax);
    }
    return bytes;
  }

  /// Reads the beginning of the body as text, for an error message: what arrives within `patience`,
  /// and before the connection breaks.
  public String excerpt(int bytesMax, Duration patience) throws InterruptedException {
    var bytes = new ByteArrayOutputStream();
    try {
      readInto(bytes, bytesMax, time.deadline(patience));
    } catch (IOException | TimeoutException cut) {
      // Use what was received so far.
    }
    return bytes.toString(StandardCharsets.UTF_8);
  }

  private void readInto(ByteArrayOutputStream bytes, int bytesMax, long deadline)
      throws IOException, TimeoutException, InterruptedException {
    while (bytes.size() < bytesMax) {
      var buffer = next(deadline);
      if (buffer == null) {
        return;
      }
      var some = new byte[Math.min(buffer.remaining(), bytesMax - bytes.size())];
      buffer.get(some);
      bytes.writeBytes(some);
    }
  }

  /// Waits for more bytes or the end of the body. True if it has ended.
  boolean atEnd(long deadline) throws IOException, TimeoutException, InterruptedException {
    return next(deadline) == null;
  }

  /// Returns the next bytes, which the caller may consume in part, or null at the end.
  ///
  /// @throws TimeoutException if there are none before `deadline`
  @Nullable ByteBuffer next(long deadline)
      throws IOException, TimeoutException, InterruptedException {
    while (true) {
      while (!current.isEmpty()) {
        if (current.element().hasRemaining()) {
          return current.element();
        }
        current.remove();
      }
      var portion = nextPortion(deadline);
      if (portion == null) {
        return null;
      }
      current.addAll(portion);
    }
  }

  private @Nullable List<ByteBuffer> nextPortion(long deadline)
      throws IOException, TimeoutException, InterruptedException {
    List<ByteBuffer> portion;
    Subscription source;
    synchronized (this) {
      while (portions.isEmpty() && !ended && !closed) {
        if (time.remaining(deadline) <= 0) {
          throw new TimeoutException("the response did not end in time");
        }
        time.waitUntil(this, deadline);
      }
      if (portions.isEmpty()) {
        if (failure != null) {
          throw new IOException(failure);
        }
        if (!ended) {
          throw new IOException("the response is closed");
        }
        return null;
      }
      portion = portions.remove();
      source = subscription;
    }
    if (source != null) {
      source.request(1);
    }
    return portion;
  }

  @Override
  public void close() {
    Subscription source;
    synchronized (this) {
      closed = true;
      source = subscription;
      notifyAll();
    }
    if (source != null) {
      source.cancel();
    }
  }

  private synchronized void end(@Nullable Throwable reason) {
    ended = true;
    failure = reason;
    notifyAll();
  }

  BodySubscriber<ResponseStream> subscriber() {
    return new Subscriber();
  }

  private final class Subscriber implements BodySubscriber<ResponseStream> {

    @Override
    public CompletionStage<ResponseStream> getBody() {
      return CompletableFuture.completedStage(ResponseStream.this);
    }

    @Override
    public void onSubscribe(Subscription given) {
      boolean wanted;
      synchronized (ResponseStream.this) {
        subscription = given;
        wanted = !closed;
      }
      if (wanted) {
        given.request(PORTIONS_AHEAD);
      } else {
        given.cancel();
      }
    }

    @Override
    public void onNext(List<ByteBuffer> portion) {
      synchronized (ResponseStream.this) {
        portions.add(portion);
        ResponseStream.this.notifyAll();
      }
    }

    @Override
    public void onError(Throwable reason) {
      end(reason);
    }

    @Override
    public void onComplete() {
      end(null);
    }
  }
}
