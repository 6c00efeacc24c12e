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

/// Sends a request and waits for its whole answer. The deadline includes the body: a server that sends it slowly cannot hold
/// the caller.
public final class WholeAnswer {

  private WholeAnswer() {}

  /// The answer, with its whole body.
  ///
  /// @throws HttpTimeoutException if the end of the body does not come within `patience`
  /// @throws IOException if the body has more than `bytesMax` bytes, or the connection fails
  public static HttpResponse<byte[]> of(
      HttpClient http, HttpRequest request, int bytesMax, Duration patience)
      throws IOException, InterruptedException {
    var answer =
        http.sendAsync(request, BodyHandlers.limiting(BodyHandlers.ofByteArray(), bytesMax));
    try {
      return answer.get(patience.toNanos(), TimeUnit.NANOSECONDS);
    } catch (TimeoutException late) {
      throw new HttpTimeoutException("the answer took more than " + patience.toMillis() + " ms");
    } catch (ExecutionException failed) {
      throw failed.getCause() instanceof IOException known
          ? known
          : new IOException(failed.getCause());
    } finally {
      // Ends the request, unless it has ended.
      answer.cancel(true);
    }
  }
}
