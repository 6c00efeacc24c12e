package dev.parley.external.cli;

import dev.parley.protocol.Json;
import tools.jackson.databind.node.ObjectNode;

/// The reply to a `control_request` of Claude Code.
record ClaudeApprovalReply(String request) implements ApprovalReply {

  @Override
  public String allow(ObjectNode arguments) {
    var response = Json.object().put("behavior", "allow");
    response.set("updatedInput", arguments);
    return answer(response);
  }

  @Override
  public String deny(String reason) {
    return answer(Json.object().put("behavior", "deny").put("message", reason));
  }

  @Override
  public boolean acceptsEditedArguments() {
    return true;
  }

  /// The line that rejects a request of the program.
  String refuse(String reason) {
    var line = Json.object().put("type", "control_response");
    line.putObject("response")
        .put("subtype", "error")
        .put("request_id", request)
        .put("error", reason);
    return line + "\n";
  }

  private String answer(ObjectNode answer) {
    var line = Json.object().put("type", "control_response");
    line.putObject("response")
        .put("subtype", "success")
        .put("request_id", request)
        .set("response", answer);
    return line + "\n";
  }
}
