package dev.parley.socket;

import dev.parley.protocol.Json;
import dev.parley.protocol.Rejection;
import java.lang.System.Logger.Level;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// The result of an event that a peer sent: an answer, or an error.
record Heard(@Nullable JsonNode answer, @Nullable ObjectNode error) {

  /// The name of the event that reports an error to a peer.
  static final String ERROR = "error";

  private static final System.Logger LOG = System.getLogger(Heard.class.getName());

  /// Passes an event to the session.
  static Heard by(Visit visit, String event, JsonNode argument) {
    try {
      return new Heard(visit.hear(event, argument), null);
    } catch (Rejection refused) {
      return refused(event, refused);
    } catch (RuntimeException wrong) {
      LOG.log(Level.ERROR, "handling the event " + event + " failed", wrong);
      return new Heard(null, error(event, "internal", "the server failed; see its log"));
    }
  }

  static Heard refused(String event, Rejection refused) {
    return new Heard(null, error(event, refused.code(), String.valueOf(refused.getMessage())));
  }

  private static ObjectNode error(String event, String code, String message) {
    return Json.object().put("event", event).put("code", code).put("message", message);
  }
}
