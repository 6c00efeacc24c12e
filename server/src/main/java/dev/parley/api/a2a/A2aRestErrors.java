package dev.parley.api.a2a;

import dev.parley.a2a.A2aError;
import dev.parley.a2a.A2aException;
import dev.parley.a2a.A2aVersion;
import dev.parley.http.Problem;
import dev.parley.http.Reply;
import dev.parley.protocol.Json;
import dev.parley.protocol.Rejection;
import java.util.Locale;
import java.util.Map;
import tools.jackson.databind.node.ObjectNode;

/// Encodes errors of one version over HTTP+JSON.
final class A2aRestErrors {

  private final A2aVersion a2aVersion;
  private final boolean asIn100;

  A2aRestErrors(A2aVersion a2aVersion, boolean asIn100) {
    this.a2aVersion = a2aVersion;
    this.asIn100 = asIn100;
  }

  /// The content type of JSON: 1.0.1 has its own.
  String contentType() {
    return a2aVersion == A2aVersion.V1_0 && !asIn100
        ? A2aRequestBody.A2A_JSON
        : A2aRequestBody.JSON;
  }

  Reply reply(A2aException fault) {
    var error = fault.error();
    return reply(
        error.status(asIn100),
        error.statusName(asIn100),
        error,
        A2aErrorEncoder.errorInfo(error),
        String.valueOf(fault.getMessage()));
  }

  /// Encodes a rejection. Some have an HTTP status for which A2A defines no error.
  Reply reply(Rejection rejection) {
    var fault = A2aErrorEncoder.toException(rejection);
    var message = String.valueOf(rejection.getMessage());
    var info = info(rejection.code());
    return switch (rejection) {
      case Rejection.Busy _ -> reply(429, "RESOURCE_EXHAUSTED", fault.error(), info, message);
      case Rejection.Unavailable _ -> reply(503, "UNAVAILABLE", fault.error(), info, message);
      case Rejection.TooLarge _ -> reply(413, "INVALID_ARGUMENT", fault.error(), info, message);
      case Rejection.Conflict _ -> reply(409, "ABORTED", fault.error(), info, message);
      case Rejection.Invalid _,
          Rejection.Unauthorized _,
          Rejection.Forbidden _,
          Rejection.NotFound _,
          Rejection.Stale _,
          Rejection.Gone _,
          Rejection.Damaged _ ->
          reply(fault);
    };
  }

  private Reply reply(int status, String name, A2aError error, ObjectNode info, String message) {
    var body =
        a2aVersion == A2aVersion.V0_3
            ? Json.object().put("code", error.code()).put("message", message)
            : body(status, name, message, info);
    return new Reply.Bytes(status, contentType(), Json.bytes(body), Map.of());
  }

  private static ObjectNode body(int status, String name, String message, ObjectNode info) {
    var json = Json.object();
    var error = json.putObject("error").put("code", status).put("status", name);
    error.put("message", message).putArray("details").add(info);
    return json;
  }

  /// The error body for a request that fails before it reaches a route.
  static ObjectNode body(Problem problem) {
    var name =
        switch (problem.status()) {
          case 401 -> "UNAUTHENTICATED";
          case 403 -> "PERMISSION_DENIED";
          case 404 -> "NOT_FOUND";
          case 405, 501 -> "UNIMPLEMENTED";
          case 409 -> "ABORTED";
          case 429 -> "RESOURCE_EXHAUSTED";
          case 503 -> "UNAVAILABLE";
          default -> problem.status() < 500 ? "INVALID_ARGUMENT" : "INTERNAL";
        };
    return body(problem.status(), name, problem.detail(), info(problem.code()));
  }

  /// The `ErrorInfo` of an error that A2A does not define: its code is the reason.
  private static ObjectNode info(String code) {
    return A2aErrorEncoder.errorInfo(code.toUpperCase(Locale.ROOT).replace('-', '_'));
  }
}
