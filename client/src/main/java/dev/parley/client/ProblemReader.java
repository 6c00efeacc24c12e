package dev.parley.client;

import dev.parley.protocol.Json;
import dev.parley.protocol.Rejection;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;

/// Converts an error response back into the server's rejection.
final class ProblemReader {

  private static final int TEXT_MAX = 500;

  private ProblemReader() {}

  /// The exception for a response with this status, which is not a success.
  static RuntimeException of(int status, byte[] body) {
    var problem = parse(body);
    var detail = text(problem, "detail");
    var title = text(problem, "title");
    var message = detail != null ? detail : title != null ? title : "the server answered " + status;
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
