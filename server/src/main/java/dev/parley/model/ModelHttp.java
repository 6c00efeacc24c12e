package dev.parley.model;

import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/// The connections to models' servers, which all models share. For many threads.
public final class ModelHttp implements AutoCloseable {

  private static final Duration CONNECT = Duration.ofSeconds(10);

  private final HttpClient http;

  public ModelHttp() {
    // Version 1.1 because the offer to upgrade confuses some local servers, and because then to
    // give up
    // an answer is to close its connection. A redirect could take the key elsewhere.
    this.http =
        HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .followRedirects(HttpClient.Redirect.NEVER)
            .connectTimeout(CONNECT)
            .build();
  }

  /// Sends a request and returns when the answer begins; the caller closes its body.
  HttpResponse<ByteStream> send(HttpRequest request, Duration patience)
      throws ExecutionException, TimeoutException, InterruptedException {
    // Not HttpRequest.timeout: newer JDKs count the whole body in, and a long answer is none too
    // late.
    var sent = http.sendAsync(request, _ -> new ByteStream());
    try {
      return sent.get(patience.toNanos(), TimeUnit.NANOSECONDS);
    } catch (TimeoutException | InterruptedException given) {
      sent.cancel(true);
      // It may have begun at the last moment.
      var _ = sent.thenAccept(late -> late.body().close());
      throw given;
    }
  }

  @Override
  public void close() {
    http.shutdownNow();
  }
}
