package dev.parley.external.cli;

import dev.parley.protocol.Json;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// Encodes JSON-RPC messages as lines, for programs that read them from a pipe.
final class JsonRpcLines {

  private static final int NO_SUCH_METHOD = -32601;

  private JsonRpcLines() {}

  static String request(int id, String method, ObjectNode params) {
    var line = line().put("id", id).put("method", method);
    line.set("params", params);
    return line + "\n";
  }

  static String notification(String method) {
    return line().put("method", method) + "\n";
  }

  static String result(JsonNode id, ObjectNode result) {
    var line = line();
    line.set("id", id);
    line.set("result", result);
    return line + "\n";
  }

  /// Rejects a request of the program.
  static String error(JsonNode id, String reason) {
    var line = line();
    line.set("id", id);
    line.putObject("error").put("code", NO_SUCH_METHOD).put("message", reason);
    return line + "\n";
  }

  private static ObjectNode line() {
    return Json.object().put("jsonrpc", "2.0");
  }

  /// A reply that can only allow or deny a request for permission.
  record RpcApprovalReply(JsonNode id, ObjectNode asked, ObjectNode yes, ObjectNode no)
      implements ApprovalReply {

    @Override
    public String allow(ObjectNode arguments) {
      return result(id, arguments.equals(asked) ? yes : no);
    }

    @Override
    public String deny(String reason) {
      return result(id, no);
    }

    @Override
    public boolean acceptsEditedArguments() {
      return false;
    }
  }
}
