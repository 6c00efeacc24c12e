package dev.parley.api.a2a;

import dev.parley.a2a.A2aError;
import dev.parley.a2a.A2aException;
import dev.parley.a2a.A2aVersion;
import dev.parley.protocol.Json;
import dev.parley.protocol.Rejection;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// Encodes errors as A2A does.
final class A2aErrorEncoder {

  private static final String INFO = "type.googleapis.com/google.rpc.ErrorInfo";
  private static final String DOMAIN = "a2a-protocol.org";

  private A2aErrorEncoder() {}

  /// Maps a rejection to the closest A2A error.
  static A2aException toException(Rejection rejection) {
    return new A2aException(error(rejection), String.valueOf(rejection.getMessage()));
  }

  private static A2aError error(Rejection rejection) {
    return switch (rejection) {
      case Rejection.Invalid _,
          Rejection.TooLarge _,
          Rejection.NotFound _,
          Rejection.Gone _,
          Rejection.Conflict _,
          Rejection.Stale _,
          Rejection.Forbidden _,
          Rejection.Unauthorized _ ->
          A2aError.INVALID_PARAMS;
      case Rejection.Busy _, Rejection.Damaged _, Rejection.Unavailable _ -> A2aError.INTERNAL;
    };
  }

  /// The response to a failed JSON-RPC request.
  static ObjectNode jsonRpcError(A2aVersion version, JsonNode id, A2aException fault) {
    var json = Json.object().put("jsonrpc", "2.0");
    json.set("id", id);
    var error =
        json.putObject("error")
            .put("code", fault.error().code())
            .put("message", String.valueOf(fault.getMessage()));
    if (fault.error().definedByA2a()
        && (version == A2aVersion.V1_0 || fault.error() == A2aError.VERSION_NOT_SUPPORTED)) {
      error.putArray("data").add(errorInfo(fault.error()));
    }
    return json;
  }

  /// The `ErrorInfo` detail of an error in 1.0.
  static ObjectNode errorInfo(A2aError error) {
    return errorInfo(error.reason());
  }

  static ObjectNode errorInfo(String reason) {
    return Json.object().put("@type", INFO).put("reason", reason).put("domain", DOMAIN);
  }
}
