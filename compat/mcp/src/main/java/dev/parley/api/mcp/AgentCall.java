package dev.parley.api.mcp;

import dev.parley.protocol.ContextId;
import dev.parley.protocol.Id;
import dev.parley.protocol.Json;
import dev.parley.protocol.Position;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.TaskId;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;

/// A call of an agent's tool: the task that works on it, and what its stream needs.
///
/// The frames of a stream have ids that contain the call. So a client can continue the stream on
/// any connection, and the server stores nothing for it.
///
/// @param from the stream shows what follows this position
/// @param requestId the id of the client's request
/// @param progressToken the client's token for progress; missing if it wants none
/// @param elicits the client asks its user when the server requests it
record AgentCall(
    ContextId context,
    TaskId root,
    Position from,
    JsonNode requestId,
    JsonNode progressToken,
    boolean elicits) {

  private static final char MARK = ':';
  private static final int TEXT_MAX = 2_000;

  /// The id of a frame of this call.
  String frameId(String cursor) {
    var json = Json.object().put("c", context.value()).put("t", root.value());
    json.put("f", from.toString()).put("e", elicits).set("r", requestId);
    if (!progressToken.isMissingNode()) {
      json.set("p", progressToken);
    }
    var text = json.toString().getBytes(StandardCharsets.UTF_8);
    return Base64.getUrlEncoder().withoutPadding().encodeToString(text) + MARK + cursor;
  }

  /// A call, and the last frame of it that a client has.
  record AgentCallCursor(AgentCall call, String cursor) {}

  /// Parses the id of a frame.
  ///
  /// @throws Rejection.Invalid if it is no such id
  static AgentCallCursor parse(String frameId) {
    var mark = frameId.indexOf(MARK);
    if (mark < 0 || frameId.length() > TEXT_MAX) {
      throw invalid();
    }
    try {
      var bytes = Base64.getUrlDecoder().decode(frameId.substring(0, mark));
      var json = Json.mapper().readTree(bytes);
      var context = json.path("c").asString("");
      var root = json.path("t").asString("");
      if (!Id.valid(context) || !Id.valid(root)) {
        throw invalid();
      }
      var call =
          new AgentCall(
              new ContextId(context),
              new TaskId(root),
              Position.parse(json.path("f").asString("")),
              json.path("r"),
              json.path("p"),
              json.path("e").asBoolean(false));
      return new AgentCallCursor(call, frameId.substring(mark + 1));
    } catch (IllegalArgumentException | JacksonException malformed) {
      throw invalid();
    }
  }

  private static Rejection invalid() {
    return new Rejection.Invalid("invalid-cursor", "Last-Event-ID is not an id of this server");
  }
}
