package dev.parley.model;

import dev.parley.protocol.Json;
import dev.parley.protocol.ReportEvent.ErrorCode;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// Sends requests to a model's server, and retries them where that is safe. For many threads.
final class Caller {

  private static final int ERROR_BYTES_MAX = 64 << 10;
  private static final Duration ERROR_PATIENCE = Duration.ofSeconds(5);

  /// A request, and the parser of its response.
  record Question(
      URI address,
      Map<String, String> headers,
      ObjectNode body,
      @Nullable AnswerForm form,
      Function<Outlet, Reading> reading) {}

  private final ModelHttp http;
  private final ModelSettings settings;
  private final Bounds bounds;
  private final ModelSources sources;

  Caller(ModelHttp http, ModelSettings settings, Bounds bounds, ModelSources sources) {
    this.http = http;
    this.settings = settings;
    this.bounds = bounds;
    this.sources = sources;
  }

  /// Sends the request until it succeeds, fails permanently or reaches the maximum number of
  /// attempts. `sink` is notified before the delay of each retry; text that it received before then
  /// is discarded.
  Reply ask(Question question, Sink sink) throws InterruptedException {
    var request = request(question);
    var backoff = new Backoff(bounds, sources);
    while (true) {
      var reading = question.reading().apply(new Outlet(sink, question.form()));
      try {
        return once(request, reading, backoff);
      } catch (ModelFailure failure) {
        var spent = reading.usage().totalTokens() > 0 ? reading.usage() : null;
        var wait = backoff.after(failure);
        if (wait.isEmpty()) {
          return failure.reply(settings, spent);
        }
        sink.retry(
            new Retry(
                backoff.attempts() + 1,
                failure.malformed() ? backoff.attempts() + 1 : bounds.attemptsMax(),
                wait.get(),
                failure.code(),
                failure.text(settings),
                spent));
        sources.pause().await(wait.get());
      }
    }
  }

  private static HttpRequest request(Question question) {
    var request =
        HttpRequest.newBuilder(question.address())
            .header("Content-Type", "application/json")
            .header("Accept", "text/event-stream")
            .header("User-Agent", "parley")
            .POST(BodyPublishers.ofByteArray(Json.bytes(question.body())));
    question.headers().forEach(request::header);
    return request.build();
  }

  private Reply once(HttpRequest request, Reading reading, Backoff backoff)
      throws ModelFailure, InterruptedException {
    var response = send(request);
    try (var body = response.body()) {
      if (response.statusCode() != 200) {
        var text = text(body);
        throw Failures.status(response.statusCode(), text)
            .again(Backoff.wanted(response.headers()))
            .after(backoff.asked(response.headers()));
      }
      checkType(response);
      var events = new SseReader(body, bounds);
      for (var event = events.next(); event != null; event = events.next()) {
        if (reading.take(event)) {
          events.drain();
          break;
        }
      }
      return reading.finish();
    } catch (IOException broken) {
      throw Failures.network(broken, host());
    }
  }

  private HttpResponse<ByteStream> send(HttpRequest request)
      throws ModelFailure, InterruptedException {
    try {
      return http.send(request, bounds.firstByte());
    } catch (TimeoutException slow) {
      throw ModelFailure.slow(
          "the model's server did not answer for " + Failures.inWords(bounds.firstByte()));
    } catch (ExecutionException failed) {
      throw Failures.network(failed.getCause() == null ? failed : failed.getCause(), host());
    }
  }

  private static void checkType(HttpResponse<?> response) throws ModelFailure {
    var type = response.headers().firstValue("Content-Type").orElse("text/event-stream");
    if (!type.contains("event-stream")) {
      throw ModelFailure.lasting(
          ErrorCode.MODEL_ERROR,
          "the model's server answered with "
              + Failures.shown(type, 100)
              + " instead of a stream; check baseUrl");
    }
  }

  /// Returns the beginning of an error response.
  private String text(ByteStream body) throws InterruptedException {
    var bytes = new byte[ERROR_BYTES_MAX];
    var length = 0;
    try {
      for (var more = body.next(ERROR_PATIENCE);
          !more.isEmpty() && length < bytes.length;
          more = body.next(ERROR_PATIENCE)) {
        for (var buffer : more) {
          var count = Math.min(buffer.remaining(), bytes.length - length);
          buffer.get(bytes, length, count);
          length += count;
        }
      }
    } catch (IOException | TimeoutException cut) {
      // Use what was received so far.
    }
    return new String(bytes, 0, length, StandardCharsets.UTF_8);
  }

  private String host() {
    return settings.baseUrl().getAuthority();
  }
}
