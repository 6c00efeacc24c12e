package dev.parley.model;

import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/// The HTTP client that all models share. For many threads.
public final class ModelHttp implements AutoCloseable {

  private static final Duration CONNECT = Duration.ofSeconds(10);

  private final HttpClient http;

  public ModelHttp() {
    // HTTP/1.1, because the upgrade header confuses some local servers, and because closing the
    // connection then cancels one response. Redirects are not followed: they could send the key to
    // another host.
    this.http =
        HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .followRedirects(HttpClient.Redirect.NEVER)
            .connectTimeout(CONNECT)
            .build();
  }

  /// Sends a request and returns when the response starts. The caller closes the body.
  HttpResponse<ResponseBodyStream> send(HttpRequest request, Duration patience)
      throws ExecutionException, TimeoutException, InterruptedException {
    // Not HttpRequest.timeout: newer JDKs include the whole body, and a long answer is not late.
    var sent = http.sendAsync(request, _ -> new ResponseBodyStream());
    try {
      return sent.get(patience.toNanos(), TimeUnit.NANOSECONDS);
    } catch (TimeoutException | InterruptedException given) {
      sent.cancel(true);
      // The response may have started just before the timeout.
      var _ = sent.thenAccept(late -> late.body().close());
      throw given;
    }
  }

  @Override
  public void close() {
    http.shutdownNow();
  }
}
