package dev.parley.model;

import dev.parley.net.ServerSentEvent;
import dev.parley.protocol.Json;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.ReportEvent.ErrorCode;
import java.net.ConnectException;
import java.net.http.HttpConnectTimeoutException;
import java.nio.channels.UnresolvedAddressException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Locale;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.net.ssl.SSLHandshakeException;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// Maps errors of providers and of the network to a [ModelFailure].
final class ModelFailures {

  private static final int SHOWN_MAX = 500;
  private static final int EVENT_SHOWN_MAX = 80;

  /// How much of an HTML error page is searched for text.
  private static final int MARKUP_MAX = 10_000;

  private static final Pattern TOO_LONG =
      Pattern.compile(
          "prompt is too long|context[_ ](?:length|window|size)|maximum context|too many tokens"
              + "|request_too_large|exceed_context",
          Pattern.CASE_INSENSITIVE);

  private ModelFailures() {}

  /// Maps a response with a status other than 200.
  static ModelFailure fromStatus(int status, String body) {
    var error = ProviderError.in(body);
    var said = status + ": " + error.message();
    if (status >= 300 && status < 400) {
      return ModelFailure.permanent(
          ErrorCode.MODEL_ERROR, "the model's server redirects; check baseUrl: " + said);
    }
    if (status >= 500) {
      return ModelFailure.retryable(
          ErrorCode.MODEL_ERROR, "the model's server failed with " + said);
    }
    return switch (status) {
      case 401, 402, 403 ->
          ModelFailure.permanent(ErrorCode.AUTH, "the model's server rejects the key with " + said);
      case 408, 409, 425 ->
          ModelFailure.retryable(ErrorCode.MODEL_ERROR, "the model's server failed with " + said);
      case 413 -> tooLong(error.message());
      case 429 -> limited(error);
      default -> invalid(error.is(TOO_LONG), said, error.message());
    };
  }

  /// Maps an error event in a stream: `{"type"|"code": …, "message": …}`.
  static ModelFailure fromStream(JsonNode node) {
    var error = ProviderError.of(node);
    return switch (error.type()) {
      case "rate_limit_error", "rate_limit_exceeded", "insufficient_quota", "429" -> limited(error);
      case "authentication_error", "permission_error", "billing_error", "invalid_api_key" ->
          ModelFailure.permanent(
              ErrorCode.AUTH, "the model's server rejects the key: " + error.message());
      case "request_too_large", "context_length_exceeded" -> tooLong(error.message());
      case "invalid_request_error", "not_found_error", "invalid_prompt", "400" ->
          invalid(error.is(TOO_LONG), error.message(), error.message());
      default ->
          ModelFailure.retryable(
              ErrorCode.MODEL_ERROR, "the model's server failed: " + error.message());
    };
  }

  /// Maps a connection that failed or was lost.
  static ModelFailure fromException(Throwable reason, String host) {
    for (var at = reason; at != null; at = at.getCause()) {
      switch (at) {
        case HttpConnectTimeoutException _ -> {
          return ModelFailure.retryable(ErrorCode.TIMEOUT, "cannot reach " + host + " in time");
        }
        case ConnectException _, UnresolvedAddressException _ -> {
          return ModelFailure.retryable(ErrorCode.MODEL_ERROR, "cannot reach " + host);
        }
        case SSLHandshakeException _ -> {
          return ModelFailure.permanent(
              ErrorCode.MODEL_ERROR, "the TLS connection to " + host + " failed: " + text(at));
        }
        default -> {
          // The cause may be more specific.
        }
      }
    }
    return ModelFailure.retryable(
        ErrorCode.MODEL_ERROR, "the connection to " + host + " broke: " + text(reason));
  }

  /// Parses the data of an event.
  ///
  /// @throws ModelFailure if it is not a JSON object
  static JsonNode json(ServerSentEvent event) throws ModelFailure {
    try {
      return Json.read(event.data().getBytes(StandardCharsets.UTF_8), ObjectNode.class);
    } catch (Rejection.Invalid broken) {
      throw ModelFailure.retryable(
          ErrorCode.MODEL_ERROR,
          "the model's server sent an event that is not JSON: "
              + shown(event.data(), EVENT_SHOWN_MAX));
    }
  }

  static ModelFailure endedEarly() {
    return ModelFailure.retryable(ErrorCode.MODEL_ERROR, "the model's answer ended in the middle");
  }

  /// Returns `text` on one line, shortened to `max` characters.
  static String shown(String text, int max) {
    var line = text.replaceAll("[\\p{Cntrl}\\s]+", " ").strip();
    return line.length() <= max ? line : line.substring(0, max) + "…";
  }

  static String format(Duration time) {
    return time.toMillis() % 1000 == 0 ? time.toSeconds() + " s" : time.toMillis() + " ms";
  }

  private static ModelFailure limited(ProviderError error) {
    if (error.type().equals("insufficient_quota")) {
      return ModelFailure.permanent(
          ErrorCode.RATE_LIMITED, "the account's quota is used up: " + error.message());
    }
    return ModelFailure.retryable(
        ErrorCode.RATE_LIMITED, "the model's rate limit is exceeded: " + error.message());
  }

  private static ModelFailure invalid(boolean tooLong, String said, String message) {
    return tooLong
        ? tooLong(message)
        : ModelFailure.permanent(
            ErrorCode.INVALID_INPUT, "the model's server rejects the request: " + said);
  }

  private static ModelFailure tooLong(String message) {
    return ModelFailure.permanent(
        ErrorCode.INVALID_INPUT, "the conversation is too long for the model: " + message);
  }

  private static String text(Throwable reason) {
    var text = reason.getMessage();
    return text == null ? reason.getClass().getSimpleName() : shown(text, SHOWN_MAX);
  }

  /// An error as the provider describes it: a code, which may be empty, and a message.
  private record ProviderError(String type, String message) {

    static ProviderError in(String body) {
      try {
        return of(Json.read(body.getBytes(StandardCharsets.UTF_8), ObjectNode.class));
      } catch (Rejection.Invalid notJson) {
        var begin = body.substring(0, Math.min(body.length(), MARKUP_MAX));
        var text = shown(begin.replaceAll("(?s)<[^>]*>", " "), SHOWN_MAX);
        return new ProviderError("", text.isEmpty() ? "no reason given" : text);
      }
    }

    static ProviderError of(JsonNode node) {
      var error = node.path("error").isObject() ? node.path("error") : node;
      var type = first(word(error, "code"), word(error, "type"));
      var quota = "insufficient_quota";
      var message =
          first(
              word(error, "message"),
              word(error, "error"),
              word(error, "detail"),
              word(node, "message"),
              type,
              "no reason given");
      return new ProviderError(
          word(error, "type").equals(quota) ? quota : type.toLowerCase(Locale.ROOT),
          shown(message, SHOWN_MAX));
    }

    boolean is(Pattern pattern) {
      return pattern.matcher(type).find() || pattern.matcher(message).find();
    }

    private static String word(JsonNode node, String name) {
      var value = node.get(name);
      return value == null || !value.isValueNode() || value.isNull() ? "" : value.asString();
    }

    private static String first(@Nullable String... words) {
      return Stream.of(words)
          .filter(word -> word != null && !word.isBlank())
          .findFirst()
          .orElse("");
    }
  }
}
