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
final class ModelCaller {

  private static final int ERROR_BYTES_MAX = 64 << 10;
  private static final Duration ERROR_PATIENCE = Duration.ofSeconds(5);

  /// A request, and the parser of its response.
  record ModelRequest(
      URI address,
      Map<String, String> headers,
      ObjectNode body,
      @Nullable AnswerSchema form,
      Function<SinkWriter, ModelStreamParser> reading) {}

  private final ModelHttp http;
  private final ModelSettings settings;
  private final ModelLimits modelLimits;
  private final ModelSources sources;

  ModelCaller(
      ModelHttp http, ModelSettings settings, ModelLimits modelLimits, ModelSources sources) {
    this.http = http;
    this.settings = settings;
    this.modelLimits = modelLimits;
    this.sources = sources;
  }

  /// Sends the request until it succeeds, fails permanently or reaches the maximum number of
  /// attempts. `sink` is notified before the delay of each retry; text that it received before then
  /// is discarded.
  ModelReply ask(ModelRequest modelRequest, ModelSink modelSink) throws InterruptedException {
    var request = request(modelRequest);
    var modelBackoff = new ModelBackoff(modelLimits, sources);
    while (true) {
      var modelStreamParser =
          modelRequest.reading().apply(new SinkWriter(modelSink, modelRequest.form()));
      try {
        return once(request, modelStreamParser, modelBackoff);
      } catch (ModelFailure failure) {
        var spent = modelStreamParser.usage().totalTokens() > 0 ? modelStreamParser.usage() : null;
        var wait = modelBackoff.delayAfter(failure);
        if (wait.isEmpty()) {
          return failure.reply(settings, spent);
        }
        modelSink.retry(
            new ModelRetry(
                modelBackoff.attempts() + 1,
                failure.malformed() ? modelBackoff.attempts() + 1 : modelLimits.attemptsMax(),
                wait.get(),
                failure.code(),
                failure.text(settings),
                spent));
        sources.pause().await(wait.get());
      }
    }
  }

  private static HttpRequest request(ModelRequest modelRequest) {
    var request =
        HttpRequest.newBuilder(modelRequest.address())
            .header("Content-Type", "application/json")
            .header("Accept", "text/event-stream")
            .header("User-Agent", "parley")
            .POST(BodyPublishers.ofByteArray(Json.bytes(modelRequest.body())));
    modelRequest.headers().forEach(request::header);
    return request.build();
  }

  private ModelReply once(
      HttpRequest request, ModelStreamParser modelStreamParser, ModelBackoff modelBackoff)
      throws ModelFailure, InterruptedException {
    var response = send(request);
    try (var body = response.body()) {
      if (response.statusCode() != 200) {
        var text = text(body);
        throw ModelFailures.fromStatus(response.statusCode(), text)
            .retryNow(ModelBackoff.shouldRetry(response.headers()))
            .after(modelBackoff.requestedDelay(response.headers()));
      }
      checkType(response);
      var events = new SseReader(body, modelLimits);
      for (var event = events.next(); event != null; event = events.next()) {
        if (modelStreamParser.accept(event)) {
          events.drain();
          break;
        }
      }
      return modelStreamParser.finish();
    } catch (IOException broken) {
      throw ModelFailures.fromException(broken, host());
    }
  }

  private HttpResponse<ResponseBodyStream> send(HttpRequest request)
      throws ModelFailure, InterruptedException {
    try {
      return http.send(request, modelLimits.firstByte());
    } catch (TimeoutException slow) {
      throw ModelFailure.timeout(
          "the model's server did not answer for " + ModelFailures.format(modelLimits.firstByte()));
    } catch (ExecutionException failed) {
      throw ModelFailures.fromException(
          failed.getCause() == null ? failed : failed.getCause(), host());
    }
  }

  private static void checkType(HttpResponse<?> response) throws ModelFailure {
    var type = response.headers().firstValue("Content-Type").orElse("text/event-stream");
    if (!type.contains("event-stream")) {
      throw ModelFailure.permanent(
          ErrorCode.MODEL_ERROR,
          "the model's server answered with "
              + ModelFailures.shown(type, 100)
              + " instead of a stream; check baseUrl");
    }
  }

  /// Returns the beginning of an error response.
  private String text(ResponseBodyStream body) throws InterruptedException {
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
