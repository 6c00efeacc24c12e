package dev.parley.door.a2a.sessions;

import dev.parley.door.Reply;
import dev.parley.protocol.Json;

/// What every answer of this door is wrapped in.
final class Envelope {

  private Envelope() {}

  /// An answer with something in it.
  static Reply of(int status, Object data, String message) {
    var json = Json.object().put("error", false);
    json.set("data", Json.mapper().valueToTree(data));
    return new Reply.Json(status, json.put("message", message));
  }

  /// An answer that says only that something was done.
  static Reply done(String message) {
    var json = Json.object().put("error", false);
    json.putNull("data");
    return new Reply.Json(200, json.put("message", message));
  }
}
