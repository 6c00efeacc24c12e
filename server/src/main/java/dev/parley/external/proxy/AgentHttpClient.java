package dev.parley.external.proxy;

import dev.parley.net.ConnectionFailure;
import dev.parley.protocol.Json;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import tools.jackson.databind.node.ObjectNode;

/// HTTP client for services that run agents. For many threads.
public final class AgentHttpClient implements AutoCloseable {

  private static final Duration CONNECT = Duration.ofSeconds(10);
  private static final Duration STOP = Duration.ofSeconds(3);
  private static final String JSON = "application/json";

  private final HttpClient http =
      HttpClient.newBuilder()
          .version(HttpClient.Version.HTTP_1_1)
          .followRedirects(HttpClient.Redirect.NEVER)
          .connectTimeout(CONNECT)
          .build();

  /// Starts an agent; the caller closes the response.
  HttpResponse<InputStream> start(URI url, ObjectNode body, Duration patience)
      throws IOException, InterruptedException, TimeoutException {
    return send(
        HttpRequest.newBuilder(url)
            .header("Content-Type", JSON)
            .header("Accept", "text/event-stream")
            .POST(BodyPublishers.ofByteArray(Json.bytes(body)))
            .build(),
        patience);
  }

  /// Resumes a stream after the event `last`, or from its beginning if that is empty.
  HttpResponse<InputStream> resume(URI url, String last, Duration patience)
      throws IOException, InterruptedException, TimeoutException {
    var request = HttpRequest.newBuilder(url).header("Accept", "text/event-stream").GET();
    if (!last.isEmpty()) {
      request.header("Last-Event-ID", last);
    }
    return send(request.build(), patience);
  }

  /// Asks an agent to stop; waits only briefly.
  void stop(URI url) throws InterruptedException {
    var request =
        HttpRequest.newBuilder(url)
            .header("Content-Type", JSON)
            .POST(BodyPublishers.ofString("{}"))
            .build();
    try {
      http.sendAsync(request, BodyHandlers.discarding())
          .get(STOP.toMillis(), TimeUnit.MILLISECONDS);
    } catch (ExecutionException | TimeoutException unheard) {
      // Best effort: the agent got the request or cannot be reached.
    }
  }

  /// Sends a request; the caller closes the response.
  ///
  /// @throws IOException with the reason in words, and the failure as its cause
  public HttpResponse<InputStream> send(HttpRequest request, Duration patience)
      throws IOException, InterruptedException, TimeoutException {
    var sent = http.sendAsync(request, BodyHandlers.ofInputStream());
    try {
      return sent.get(patience.toMillis(), TimeUnit.MILLISECONDS);
    } catch (ExecutionException failed) {
      var cause = failed.getCause() == null ? failed : failed.getCause();
      throw new IOException(ConnectionFailure.describe(cause), cause);
    } catch (TimeoutException | InterruptedException given) {
      sent.cancel(true);
      throw given;
    }
  }

  /// Reads at most `max` bytes of a response and closes it.
  ///
  /// @throws TimeoutException if reading takes longer than `patience`
  public static byte[] read(HttpResponse<InputStream> answer, int max, Duration patience)
      throws IOException, TimeoutException {
    var late = new AtomicBoolean();
    try (var body = answer.body()) {
      var watch =
          Thread.ofVirtual().name("answer-watch").start(() -> closeLate(body, patience, late));
      byte[] bytes;
      try {
        bytes = body.readNBytes(max);
      } finally {
        watch.interrupt();
      }
      if (!late.get()) {
        return bytes;
      }
    } catch (IOException broken) {
      if (!late.get()) {
        throw broken;
      }
    }
    throw new TimeoutException("the response did not end in time");
  }

  /// Closes a response when the time is up.
  private static void closeLate(InputStream body, Duration patience, AtomicBoolean late) {
    try {
      Thread.sleep(patience);
      late.set(true);
      body.close();
    } catch (InterruptedException read) {
      // The response was read in time.
    } catch (IOException gone) {
      // It is closed anyway.
    }
  }

  @Override
  public void close() {
    http.shutdownNow();
  }
}
