package dev.parley.socketio;

import dev.parley.protocol.Json;
import dev.parley.protocol.Rejection;
import java.lang.System.Logger.Level;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// The result of an event that a peer sent: an answer, or an error.
record EventResult(@Nullable JsonNode answer, @Nullable ObjectNode error) {

  /// The name of the event that reports an error to a peer.
  static final String ERROR = "error";

  private static final System.Logger LOG = System.getLogger(EventResult.class.getName());

  /// Passes an event to the session.
  static EventResult dispatch(SocketSession socketSession, String event, JsonNode argument) {
    try {
      return new EventResult(socketSession.onEvent(event, argument), null);
    } catch (Rejection refused) {
      return rejected(event, refused);
    } catch (RuntimeException wrong) {
      LOG.log(Level.ERROR, "handling the event " + event + " failed", wrong);
      return new EventResult(null, error(event, "internal", "the server failed; see its log"));
    }
  }

  static EventResult rejected(String event, Rejection refused) {
    return new EventResult(
        null, error(event, refused.code(), String.valueOf(refused.getMessage())));
  }

  private static ObjectNode error(String event, String code, String message) {
    return Json.object().put("event", event).put("code", code).put("message", message);
  }
}
