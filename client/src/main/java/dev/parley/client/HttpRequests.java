package dev.parley.client;

import dev.parley.protocol.Json;
import dev.parley.protocol.Rejection;
import java.io.IOException;
import java.io.InputStream;
import java.net.ConnectException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandler;
import java.net.http.HttpResponse.BodyHandlers;
import java.net.http.HttpResponse.BodySubscriber;
import java.net.http.HttpResponse.BodySubscribers;
import java.net.http.HttpResponse.ResponseInfo;
import java.nio.channels.UnresolvedAddressException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// Sends requests, and retries those that may be repeated. For many threads.
final class HttpRequests implements AutoCloseable {

  private static final long JSON_MAX = 64L << 20;
  private static final int ERROR_MAX = 64 << 10;
  private static final int NO_CONTENT = 204;

  private final ClientSettings settings;
  private final RandomGenerator random;
  private final HttpClient http;
  private final String baseUrl;

  /// Set when a server has replied: after that, a refused connection may be a restart.
  private volatile boolean answered;

  HttpRequests(ClientSettings settings, RandomGenerator random) {
    this.settings = settings;
    this.random = random;
    var builder =
        HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .connectTimeout(settings.connectTimeout());
    if (settings.tls() != null) {
      builder.sslContext(settings.tls());
    }
    this.http = builder.build();
    this.baseUrl = settings.url().toString().replaceFirst("/+$", "");
  }

  /// Sends `call` and returns the JSON object of the reply.
  ///
  /// @throws Rejection if the server rejects the request
  /// @throws Unreachable if no server replies
  ObjectNode json(HttpCall httpCall) {
    var body = send(httpCall, BodyHandlers.limiting(BodyHandlers.ofByteArray(), JSON_MAX));
    try {
      if (Json.mapper().readTree(body) instanceof ObjectNode object) {
        return object;
      }
    } catch (JacksonException notJson) {
      throw new BadAnswer(httpCall + " did not return JSON: is this a Parley server?", notJson);
    }
    throw new BadAnswer(httpCall + " did not return a JSON object: is this a Parley server?");
  }

  /// Sends `call` and ignores the content of the reply.
  void execute(HttpCall httpCall) {
    send(httpCall, BodyHandlers.limiting(BodyHandlers.ofByteArray(), JSON_MAX));
  }

  /// Sends `call` and returns the bytes of the reply; the caller closes them.
  InputStream bytes(HttpCall httpCall) {
    return send(httpCall, BodyHandlers.ofInputStream());
  }

  private <T> T send(HttpCall httpCall, BodyHandler<T> handler) {
    for (var attempt = 1; ; attempt++) {
      var last = attempt >= settings.reconnect().attemptsMax();
      try {
        return body(sendOnce(request(httpCall).build(), handler));
      } catch (HttpFailure httpFailure) {
        if (last || httpFailure.permanent) {
          throw httpFailure.reason;
        }
        pause(
            settings.reconnect().delay(attempt, httpFailure.retryAfter, random),
            httpFailure.reason);
      }
    }
  }

  /// Opens an event stream.
  ///
  /// @throws Failure if the stream cannot be opened, now or ever
  InputStream stream(HttpCall httpCall, String lastEventId) throws HttpFailure {
    var request = request(httpCall).header("Accept", "text/event-stream");
    var response =
        sendOnce(
            request.header("Last-Event-ID", lastEventId).build(), BodyHandlers.ofInputStream());
    var type = response.headers().firstValue("Content-Type").orElse("nothing");
    if (response.statusCode() == NO_CONTENT || !type.startsWith("text/event-stream")) {
      closeQuietly(body(response));
      throw new HttpFailure(new BadAnswer(httpCall + " returned " + type), null, true);
    }
    return body(response);
  }

  private static <T> T body(HttpResponse<Outcome<T>> response) {
    return switch (response.body()) {
      case Outcome.Success<T> success -> success.body;
      case Outcome.Refused<T> refused ->
          throw new IllegalStateException("an unhandled error response: " + refused.status);
    };
  }

  private HttpRequest.Builder request(HttpCall httpCall) {
    var publisher =
        httpCall.body() == null
            ? BodyPublishers.noBody()
            : BodyPublishers.ofByteArray(Json.bytes(httpCall.body()));
    var request = HttpRequest.newBuilder(URI.create(baseUrl + httpCall.path()));
    request.method(httpCall.method(), publisher);
    if (httpCall.body() != null) {
      request.header("Content-Type", "application/json");
    }
    if (httpCall.key() != null) {
      request.header("Idempotency-Key", httpCall.key());
    }
    if (settings.token() != null) {
      request.header("Authorization", "Bearer " + settings.token());
    }
    return request;
  }

  private <T> HttpResponse<Outcome<T>> sendOnce(HttpRequest request, BodyHandler<T> handler)
      throws HttpFailure {
    // Not HttpRequest.timeout: newer JDKs include the body in the time, and a stream has no end.
    var sent = http.sendAsync(request, info -> outcome(info, handler));
    try {
      var response = sent.get(settings.requestTimeout().toMillis(), TimeUnit.MILLISECONDS);
      answered = true;
      if (response.body() instanceof Outcome.Refused<T> refused) {
        // A budget that is used up starts again much later.
        var passing =
            (refused.status == 429 && !refused.hasCode("budget-exceeded")) || refused.status >= 500;
        throw new HttpFailure(refused.reason, refused.retryAfter, !passing);
      }
      return response;
    } catch (InterruptedException interrupted) {
      sent.cancel(true);
      Thread.currentThread().interrupt();
      throw new HttpFailure(unreachable("interrupted while waiting", interrupted), null, true);
    } catch (TimeoutException slow) {
      sent.cancel(true);
      var why = "no answer within " + settings.requestTimeout().toMillis() + " ms";
      throw new HttpFailure(unreachable(why, slow), null, false);
    } catch (ExecutionException failed) {
      throw failure(failed.getCause() == null ? failed : failed.getCause());
    }
  }

  /// The body of an error response is read as bytes; only the body of a success goes to `handler`.
  private static <T> BodySubscriber<Outcome<T>> outcome(ResponseInfo info, BodyHandler<T> handler) {
    if (success(info.statusCode())) {
      return BodySubscribers.mapping(handler.apply(info), Outcome.Success::new);
    }
    return BodySubscribers.mapping(
        BodySubscribers.limiting(BodySubscribers.ofByteArray(), ERROR_MAX),
        body -> refused(info, body));
  }

  private static <T> Outcome<T> refused(ResponseInfo info, byte[] body) {
    var status = info.statusCode();
    return new Outcome.Refused<>(status, ProblemReader.of(status, body), retryAfter(info));
  }

  private HttpFailure failure(Throwable cause) {
    for (var at = cause; at != null; at = at.getCause()) {
      if (at instanceof ConnectException || at instanceof UnresolvedAddressException) {
        return new HttpFailure(unreachable("the connection was refused", cause), null, !answered);
      }
    }
    var message =
        cause.getMessage() == null ? cause.getClass().getSimpleName() : cause.getMessage();
    return new HttpFailure(unreachable(message, cause), null, false);
  }

  Unreachable unreachable(String why, @Nullable Throwable cause) {
    return new Unreachable(settings.url(), why, cause);
  }

  private static boolean success(int status) {
    return status >= 200 && status < 300;
  }

  private static @Nullable Duration retryAfter(ResponseInfo info) {
    var text = info.headers().firstValue("Retry-After").orElse("").strip();
    return text.matches("\\d{1,6}") ? Duration.ofSeconds(Long.parseLong(text)) : null;
  }

  private static void pause(Duration delay, RuntimeException reason) {
    try {
      Thread.sleep(delay);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw reason;
    }
  }

  static void closeQuietly(InputStream body) {
    try {
      body.close();
    } catch (IOException ignored) {
      // The body is not needed.
    }
  }

  @Override
  public void close() {
    http.shutdownNow();
  }

  /// A request failed. It may be repeated, unless the failure is `permanent`.
  static final class HttpFailure extends Exception {
    private static final long serialVersionUID = 1L;

    final transient RuntimeException reason;
    final transient @Nullable Duration retryAfter;
    final boolean permanent;

    HttpFailure(RuntimeException reason, @Nullable Duration retryAfter, boolean permanent) {
      super(reason);
      this.reason = reason;
      this.retryAfter = retryAfter;
      this.permanent = permanent;
    }
  }

  /// The result of a request.
  private sealed interface Outcome<T> {

    record Success<T>(T body) implements Outcome<T> {}

    record Refused<T>(int status, RuntimeException reason, @Nullable Duration retryAfter)
        implements Outcome<T> {

      boolean hasCode(String code) {
        return reason instanceof Rejection rejection && rejection.code().equals(code);
      }
    }
  }

  /// One request, without the address of the server.
  ///
  /// `body` is sent as JSON, `key` as `Idempotency-Key`. Every call may be repeated if its reply
  /// was lost: the key makes a POST idempotent.
  record HttpCall(String method, String path, @Nullable Object body, @Nullable String key) {

    static HttpCall get(String path) {
      return new HttpCall("GET", path, null, null);
    }

    static HttpCall delete(String path) {
      return new HttpCall("DELETE", path, null, null);
    }

    static HttpCall patch(String path, Object body) {
      return new HttpCall("PATCH", path, body, null);
    }

    static HttpCall post(String path, Object body, String key) {
      return new HttpCall("POST", path, body, key);
    }

    @Override
    public String toString() {
      return method + " " + path;
    }
  }

  /// Builds a path with its query; null values are left out.
  static final class RequestPath {

    private final StringBuilder text;
    private char separator = '?';

    RequestPath(String path) {
      text = new StringBuilder(path);
    }

    RequestPath with(String name, @Nullable Object value) {
      if (value != null) {
        text.append(separator).append(name).append('=');
        text.append(URLEncoder.encode(value.toString(), StandardCharsets.UTF_8));
        separator = '&';
      }
      return this;
    }

    @Override
    public String toString() {
      return text.toString();
    }
  }

  /// Converts an error response back into the server's rejection.
  static final class ProblemReader {

    private static final int TEXT_MAX = 500;

    private ProblemReader() {}

    /// The exception for a response with this status, which is not a success.
    static RuntimeException of(int status, byte[] body) {
      var problem = parse(body);
      var detail = text(problem, "detail");
      var title = text(problem, "title");
      var message =
          detail != null ? detail : title != null ? title : "the server answered " + status;
      var code = text(problem, "code");
      return switch (status) {
        case 401 -> new Rejection.Unauthorized(message);
        case 403 -> new Rejection.Forbidden(or(code, "forbidden"), message);
        case 404 -> new Rejection.NotFound(message);
        case 409, 412 ->
            "stale".equals(code)
                ? new Rejection.Stale(message)
                : new Rejection.Conflict(or(code, "conflict"), message);
        case 410 -> new Rejection.Gone(message);
        case 413, 414, 431 -> new Rejection.TooLarge(or(code, "too-large"), message);
        case 429 -> new Rejection.Busy(or(code, "busy"), message);
        case 503 ->
            code == null || code.equals("unavailable")
                ? new Rejection.Unavailable(message)
                : new Rejection.Busy(code, message);
        case 500 ->
            "context-damaged".equals(code)
                ? new Rejection.Damaged(message)
                : new BadAnswer("The server failed (500): " + message);
        default ->
            status >= 400 && status < 500
                ? new Rejection.Invalid(or(code, "invalid"), message)
                : new BadAnswer("The server failed (" + status + "): " + message);
      };
    }

    private static @Nullable JsonNode parse(byte[] body) {
      try {
        return Json.mapper().readTree(body);
      } catch (JacksonException notJson) {
        return null;
      }
    }

    private static @Nullable String text(@Nullable JsonNode problem, String name) {
      if (problem == null || !problem.path(name).isString()) {
        return null;
      }
      var text = problem.path(name).asString();
      return text.isBlank() ? null : text.substring(0, Math.min(text.length(), TEXT_MAX));
    }

    private static String or(@Nullable String code, String other) {
      return code == null ? other : code;
    }
  }
}
