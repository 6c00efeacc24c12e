package dev.parley.net;

import java.io.IOException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.net.http.HttpTimeoutException;
import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/// Sends HTTP requests with a limit on the size of the response and a deadline that includes the
/// body, so that a slow server cannot block the caller.
public final class BoundedHttpCall {

  private BoundedHttpCall() {}

  /// Sends a request and returns the response with its complete body.
  ///
  /// @throws HttpTimeoutException if the body is not complete within `patience`
  /// @throws IOException if the body has more than `bytesMax` bytes, or the connection fails
  public static HttpResponse<byte[]> send(
      HttpClient http, HttpRequest request, int bytesMax, Duration patience)
      throws IOException, InterruptedException {
    var answer =
        http.sendAsync(request, BodyHandlers.limiting(BodyHandlers.ofByteArray(), bytesMax));
    try {
      return answer.get(patience.toNanos(), TimeUnit.NANOSECONDS);
    } catch (TimeoutException late) {
      throw new HttpTimeoutException("the response took more than " + patience.toMillis() + " ms");
    } catch (ExecutionException failed) {
      throw failed.getCause() instanceof IOException known
          ? known
          : new IOException(failed.getCause());
    } finally {
      // Cancels the request if it has not ended.
      answer.cancel(true);
    }
  }
}
