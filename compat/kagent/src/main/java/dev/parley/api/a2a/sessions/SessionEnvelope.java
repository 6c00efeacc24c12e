package dev.parley.api.a2a.sessions;

import dev.parley.http.Reply;
import dev.parley.http.ResponseDescription;
import dev.parley.http.Route;
import dev.parley.http.Route.RouteHandler;
import dev.parley.protocol.Json;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// What the routes of this API have in common: their parameters, and the envelope of replies.
final class SessionEnvelope {

  static final ResponseDescription RESPONSE = ResponseDescription.other("application/json");

  private SessionEnvelope() {}

  /// A route whose reply is an envelope. `body` is null if it takes no body.
  static Route route(
      Route.Method method,
      String path,
      String summary,
      @Nullable Class<?> body,
      RouteHandler routeHandler) {
    var who = List.of(SessionAccess.USER, SessionAccess.USER_HEADER);
    var description = new Route.RouteDescription(summary, who, body, RESPONSE);
    return new Route(method, path, description, routeHandler);
  }

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
