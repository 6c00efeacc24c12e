package dev.parley.model;

import dev.parley.net.Backoff;
import dev.parley.net.OutgoingHttpClient;
import dev.parley.net.ResponseStream;
import dev.parley.net.ResponseTooLargeException;
import dev.parley.net.ServerSentEventStream.EventLimits;
import dev.parley.net.ServerSentEventStream.StreamItem;
import dev.parley.protocol.Json;
import dev.parley.protocol.ReportEvent.ErrorCode;
import java.io.IOException;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeoutException;

/// Sends requests to a model's server, and retries them where that is safe. For many threads.
final class ModelCaller {

  private static final int ERROR_BYTES_MAX = 64 << 10;
  private static final Duration ERROR_PATIENCE = Duration.ofSeconds(5);
  private static final Backoff BACKOFF =
      new Backoff(Duration.ofMillis(500), Duration.ofSeconds(16));

  /// How long to wait for the end of the stream after its last event, so that the connection can be
  /// used again.
  private static final Duration END = Duration.ofMillis(100);

  private final OutgoingHttpClient http;
  private final ModelSettings settings;
  private final ModelLimits modelLimits;
  private final ModelSources sources;

  ModelCaller(
      OutgoingHttpClient http,
      ModelSettings settings,
      ModelLimits modelLimits,
      ModelSources sources) {
    this.http = http;
    this.settings = settings;
    this.modelLimits = modelLimits;
    this.sources = sources;
  }

  /// Sends the request until it succeeds, fails permanently or reaches the maximum number of
  /// attempts. `sink` is notified before the delay of each retry; text that it received before then
  /// is discarded.
  ModelReply ask(ProviderRequest providerRequest, ModelSink modelSink) throws InterruptedException {
    var request = request(providerRequest);
    var attempts = new Attempts();
    while (true) {
      var modelStreamParser =
          providerRequest.parser(sources.ids(), new SinkWriter(modelSink, providerRequest.form));
      try {
        return once(request, modelStreamParser);
      } catch (ModelFailure failure) {
        var spent = modelStreamParser.usage().totalTokens() > 0 ? modelStreamParser.usage() : null;
        var wait = attempts.delayAfter(failure);
        if (wait.isEmpty()) {
          return failure.reply(settings, spent);
        }
        modelSink.retry(
            new ModelRetry(
                attempts.count + 1,
                failure.malformed() ? attempts.count + 1 : modelLimits.attemptsMax(),
                wait.get(),
                failure.code(),
                failure.text(settings),
                spent));
        sources.time().sleep(wait.get());
      }
    }
  }

  private static HttpRequest request(ProviderRequest providerRequest) {
    var request =
        HttpRequest.newBuilder(providerRequest.address())
            .header("Content-Type", "application/json")
            .header("Accept", "text/event-stream")
            .header("User-Agent", "parley")
            .POST(BodyPublishers.ofByteArray(Json.bytes(providerRequest.body())));
    providerRequest.headers().forEach(request::header);
    return request.build();
  }

  private ModelReply once(HttpRequest request, ModelStreamParser modelStreamParser)
      throws ModelFailure, InterruptedException {
    try (var response = http.open(request, modelLimits.firstByte())) {
      if (response.status() != 200) {
        throw failure(response);
      }
      checkType(response);
      readEvents(response, modelStreamParser);
      return modelStreamParser.finish();
    } catch (TimeoutException slow) {
      throw ModelFailure.timeout(
          "the model's server did not answer for " + ModelFailures.format(modelLimits.firstByte()));
    } catch (ResponseTooLargeException large) {
      var what = large.subject().equals("an event") ? "an event" : "an answer";
      throw ModelFailure.permanent(
          ErrorCode.LIMIT,
          "the model's server sent " + what + " of more than " + large.bytesMax() + " bytes");
    } catch (IOException broken) {
      throw ModelFailures.fromException(broken, settings.baseUrl().getAuthority());
    }
  }

  private ModelFailure failure(ResponseStream response) throws InterruptedException {
    var text = response.excerpt(ERROR_BYTES_MAX, ERROR_PATIENCE);
    var headers = response.headers();
    var wanted =
        switch (headers.firstValue("x-should-retry").orElse("").strip()) {
          case "true" -> true;
          case "false" -> false;
          default -> null;
        };
    return ModelFailures.fromStatus(response.status(), text)
        .retryNow(wanted)
        .after(Backoff.retryAfter(headers, sources.time()).orElse(null));
  }

  private static void checkType(ResponseStream response) throws ModelFailure {
    var type = response.headers().firstValue("Content-Type").orElse("text/event-stream");
    if (!type.contains("event-stream")) {
      throw ModelFailure.permanent(
          ErrorCode.MODEL_ERROR,
          "the model's server answered with "
              + ModelFailures.shown(type, 100)
              + " instead of a stream; check baseUrl");
    }
  }

  private void readEvents(ResponseStream response, ModelStreamParser modelStreamParser)
      throws ModelFailure, IOException, InterruptedException {
    var limits = new EventLimits(modelLimits.lineBytesMax(), modelLimits.replyBytesMax());
    var events = response.events(limits);
    var patience = modelLimits.firstByte();
    while (true) {
      switch (events.nextWhileActive(patience)) {
        case StreamItem.EventReceived(var event) -> {
          if (modelStreamParser.accept(event)) {
            events.drain(END);
            return;
          }
        }
        case StreamItem.StreamSilent _ ->
            throw ModelFailure.timeout(
                "the model's server sent nothing for " + ModelFailures.format(patience));
        case StreamItem.StreamEnded(var reason) -> {
          if (reason != null) {
            throw reason;
          }
          var last = events.unfinished();
          if (last != null) {
            modelStreamParser.accept(last);
          }
          return;
        }
      }
      patience = modelLimits.silence();
    }
  }

  /// Decides how long to wait before a request is retried. For one request.
  private final class Attempts {

    private int count;
    private int malformed;
    private Duration left = modelLimits.waitsMax();

    /// Returns how long to wait after this failure, or empty if there is no further attempt.
    ///
    /// A delay that the provider asks for is never shortened: if it exceeds the remaining time,
    /// there is no retry. After an answer that does not match its schema there is one retry,
    /// without delay.
    Optional<Duration> delayAfter(ModelFailure failure) {
      count++;
      if (count >= modelLimits.attemptsMax()) {
        return Optional.empty();
      }
      if (failure.malformed()) {
        return malformed++ == 0 ? Optional.of(Duration.ZERO) : Optional.empty();
      }
      if (!failure.retryNow()) {
        return Optional.empty();
      }
      var wait = BACKOFF.delay(count, sources.random());
      var asked = failure.retryAfter();
      if (asked != null && asked.compareTo(wait) > 0) {
        wait = asked;
      }
      if (wait.compareTo(left) > 0) {
        return Optional.empty();
      }
      left = left.minus(wait);
      return Optional.of(wait);
    }
  }
}
