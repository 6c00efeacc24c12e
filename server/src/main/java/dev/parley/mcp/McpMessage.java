package dev.parley.mcp;

import dev.parley.protocol.Json;
import java.io.IOException;
import tools.jackson.core.JacksonException;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.cfg.JsonNodeFeature;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/// A message of the protocol (JSON-RPC 2.0).
sealed interface McpMessage {

  /// The maximum size of a message.
  int BYTES_MAX = 16 << 20;

  /// Reads messages. Numbers keep every digit.
  JsonMapper MAPPER =
      JsonMapper.builder(
              JsonFactory.builder()
                  .streamReadConstraints(
                      StreamReadConstraints.builder()
                          .maxNestingDepth(200)
                          .maxNumberLength(1_000)
                          .build())
                  .build())
          .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
          .disable(JsonNodeFeature.STRIP_TRAILING_BIGDECIMAL_ZEROES)
          .build();

  /// A request. The id is a string or an integer.
  record RpcRequest(JsonNode id, String method, JsonNode params) implements McpMessage {

    @Override
    public ObjectNode json() {
      var json = start().set("id", id).put("method", method);
      json.set("params", params);
      return json;
    }
  }

  /// A message without a response.
  record RpcNotification(String method, JsonNode params) implements McpMessage {

    @Override
    public ObjectNode json() {
      var json = start().put("method", method);
      if (!params.isMissingNode()) {
        json.set("params", params);
      }
      return json;
    }
  }

  /// The result of a request.
  record RpcResult(JsonNode id, JsonNode result) implements McpMessage {

    @Override
    public ObjectNode json() {
      var json = start().set("id", id);
      json.set("result", result);
      return json;
    }
  }

  /// The failure of a request.
  record RpcFailure(JsonNode id, int code, String message) implements McpMessage {

    static final int METHOD_NOT_FOUND = -32601;
    static final int INVALID_PARAMS = -32602;

    @Override
    public ObjectNode json() {
      var json = start().set("id", id);
      json.putObject("error").put("code", code).put("message", message);
      return json;
    }
  }

  ObjectNode json();

  private static ObjectNode start() {
    return Json.object().put("jsonrpc", "2.0");
  }

  /// Parses a message.
  ///
  /// @throws IOException if it is not one
  static McpMessage parse(String text) throws IOException {
    JsonNode json;
    try {
      json = MAPPER.readTree(text);
    } catch (JacksonException malformed) {
      throw new IOException(malformed);
    }
    var id = json.path("id");
    if (json.has("method")) {
      var method = json.path("method").asString("");
      if (!json.has("id")) {
        return new RpcNotification(method, json.path("params"));
      }
      if (id.isString() || id.isIntegralNumber()) {
        return new RpcRequest(id, method, json.path("params"));
      }
    } else if (json.path("error").isObject()) {
      var error = json.path("error");
      return new RpcFailure(id, error.path("code").asInt(0), error.path("message").asString(""));
    } else if (json.has("result")) {
      return new RpcResult(id, json.path("result"));
    }
    throw new IOException("this is not a message");
  }
}
