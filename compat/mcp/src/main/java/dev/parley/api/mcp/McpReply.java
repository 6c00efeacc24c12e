package dev.parley.api.mcp;

import dev.parley.protocol.Json;
import dev.parley.protocol.Rejection;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// Encodes messages of JSON-RPC 2.0.
final class McpReply {

  static final int INVALID_REQUEST = -32600;
  static final int METHOD_NOT_FOUND = -32601;
  static final int INVALID_PARAMS = -32602;
  static final int RESOURCE_NOT_FOUND = -32002;
  private static final int REJECTED = -32000;

  private McpReply() {}

  static ObjectNode result(JsonNode id, JsonNode result) {
    return message().set("id", id).set("result", result);
  }

  static ObjectNode error(JsonNode id, int code, String text) {
    var json = message().set("id", id);
    json.putObject("error").put("code", code).put("message", text);
    return json;
  }

  static ObjectNode error(JsonNode id, Rejection rejection) {
    var code =
        switch (rejection) {
          case Rejection.Invalid _, Rejection.TooLarge _ -> INVALID_PARAMS;
          case Rejection.NotFound _, Rejection.Gone _ -> RESOURCE_NOT_FOUND;
          case Rejection.Unauthorized _,
              Rejection.Forbidden _,
              Rejection.Conflict _,
              Rejection.Stale _,
              Rejection.Busy _,
              Rejection.Damaged _,
              Rejection.Unavailable _ ->
              REJECTED;
        };
    return error(id, code, String.valueOf(rejection.getMessage()));
  }

  static ObjectNode notification(String method, ObjectNode params) {
    return message().put("method", method).set("params", params);
  }

  static ObjectNode request(String id, String method, ObjectNode params) {
    return message().put("id", id).put("method", method).set("params", params);
  }

  private static ObjectNode message() {
    return Json.object().put("jsonrpc", "2.0");
  }
}
