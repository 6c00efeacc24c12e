package dev.parley.api.a2a.sessions;

import dev.parley.http.Reply;
import dev.parley.protocol.Json;

/// The envelope of every reply of this API.
final class SessionEnvelope {

  private SessionEnvelope() {}

  /// A reply with data.
  static Reply of(int status, Object data, String message) {
    var json = Json.object().put("error", false);
    json.set("data", Json.mapper().valueToTree(data));
    return new Reply.Json(status, json.put("message", message));
  }

  /// A reply without data.
  static Reply done(String message) {
    var json = Json.object().put("error", false);
    json.putNull("data");
    return new Reply.Json(200, json.put("message", message));
  }
}
