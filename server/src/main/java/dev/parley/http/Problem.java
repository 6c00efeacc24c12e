package dev.parley.http;

import dev.parley.protocol.Json;
import dev.parley.protocol.Rejection;
import java.io.Serial;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// Why a request failed: a problem document of RFC 9457, with a `code` for programs.
public record Problem(
    int status,
    String title,
    String code,
    String detail,
    @Nullable String instance,
    Map<String, Object> extensions) {

  private static final String TYPE = "about:blank";

  public Problem {
    extensions = Map.copyOf(extensions);
  }

  /// A problem without further fields.
  public static Problem of(int status, String code, String detail) {
    return new Problem(status, title(status), code, detail, null, Map.of());
  }

  /// The problem document of a rejection.
  public static Problem of(Rejection rejection) {
    return of(status(rejection), rejection.code(), String.valueOf(rejection.getMessage()));
  }

  /// The same problem with one more field.
  public Problem with(String name, Object value) {
    return new Problem(status, title, code, detail, instance, Map.of(name, value));
  }

  /// The same problem in an API's terms: replaces the first word of each pair by the second. The
  /// text after a colon may be the caller's own and stays unchanged.
  public Problem withTerms(List<Map.Entry<String, String>> words) {
    var colon = detail.indexOf(": ");
    var said = colon < 0 ? detail : detail.substring(0, colon);
    for (var word : words) {
      said = said.replaceAll("\\b" + word.getKey() + "\\b", word.getValue());
    }
    var all = colon < 0 ? said : said + detail.substring(colon);
    return new Problem(status, title, code, all, instance, extensions);
  }

  Problem withInstance(String place) {
    return new Problem(status, title, code, detail, place, extensions);
  }

  /// The problem as JSON.
  public ObjectNode json() {
    var json = Json.object();
    json.put("type", TYPE).put("title", title).put("status", status);
    json.put("detail", detail).put("code", code);
    if (instance != null) {
      json.put("instance", instance);
    }
    extensions.forEach(json::putPOJO);
    return json;
  }

  private static int status(Rejection rejection) {
    return switch (rejection) {
      case Rejection.Invalid _ -> 400;
      case Rejection.Unauthorized _ -> 401;
      case Rejection.Forbidden _ -> 403;
      case Rejection.NotFound _ -> 404;
      case Rejection.Conflict _, Rejection.Stale _ -> 409;
      case Rejection.Gone _ -> 410;
      case Rejection.TooLarge _ -> 413;
      case Rejection.Busy _ -> 429;
      case Rejection.Damaged _ -> 500;
      case Rejection.Unavailable _ -> 503;
    };
  }

  private static String title(int status) {
    return switch (status) {
      case 400 -> "Bad Request";
      case 401 -> "Unauthorized";
      case 403 -> "Forbidden";
      case 404 -> "Not Found";
      case 405 -> "Method Not Allowed";
      case 408 -> "Request Timeout";
      case 409 -> "Conflict";
      case 410 -> "Gone";
      case 413 -> "Content Too Large";
      case 414 -> "URI Too Long";
      case 415 -> "Unsupported Media Type";
      case 417 -> "Expectation Failed";
      case 426 -> "Upgrade Required";
      case 429 -> "Too Many Requests";
      case 431 -> "Request Header Fields Too Large";
      case 500 -> "Internal Server Error";
      case 503 -> "Service Unavailable";
      default -> status < 500 ? "Request Refused" : "Server Error";
    };
  }

  /// Thrown for a problem of HTTP itself (a media type, a method), which is not a `Rejection`.
  static final class HttpProblemException extends RuntimeException {

    @Serial private static final long serialVersionUID = 1L;

    private final transient Reply.Rejected reply;

    HttpProblemException(Problem problem) {
      this(new Reply.Rejected(problem));
    }

    HttpProblemException(Reply.Rejected reply) {
      super(reply.problem().detail(), null, false, false);
      this.reply = reply;
    }

    Reply.Rejected reply() {
      return reply;
    }
  }
}
