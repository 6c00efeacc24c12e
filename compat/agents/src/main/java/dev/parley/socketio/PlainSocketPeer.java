package dev.parley.socketio;

import dev.parley.http.WebSocketConnection;
import dev.parley.identity.Caller;
import dev.parley.protocol.Json;
import dev.parley.protocol.Rejection;
import java.io.IOException;
import java.util.List;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.NullNode;

/// A peer on a plain WebSocket: `{"event":…,"data":…}` in both directions, and
/// `{"ack":id,"data":…}` for events with an `id`.
record PlainSocketPeer(WebSocketConnection webSocketConnection, String id, Caller caller)
    implements SocketPeer {

  private static final int ID_CHARACTERS = 128;

  @Override
  public void emit(String event, JsonNode argument) throws IOException, InterruptedException {
    send(Json.object().put("event", event).set("data", argument));
  }

  @Override
  public void emitAll(SocketEventBatch socketEventBatch) throws IOException, InterruptedException {
    webSocketConnection.send(List.of(socketEventBatch.messages()));
  }

  /// Receives events until the peer disconnects.
  void serve(SocketSession.SocketSessionFactory socketSessionFactory)
      throws IOException, InterruptedException {
    var socketSession = socketSessionFactory.connect(this);
    try {
      for (var text = webSocketConnection.receive();
          text != null;
          text = webSocketConnection.receive()) {
        handle(socketSession, text);
      }
    } finally {
      socketSession.onDisconnect();
    }
  }

  private void handle(SocketSession socketSession, String text)
      throws IOException, InterruptedException {
    JsonNode message;
    try {
      message = read(text);
    } catch (Rejection wrong) {
      sendError(EventResult.rejected("", wrong));
      return;
    }
    var data = message.path("data");
    var eventResult =
        EventResult.dispatch(
            socketSession,
            message.path("event").asString(),
            data.isMissingNode() ? NullNode.getInstance() : data);
    sendError(eventResult);
    if (message.has("id")) {
      var ack = Json.object().set("ack", message.path("id"));
      if (eventResult.error() != null) {
        ack.set("error", eventResult.error());
      } else if (eventResult.answer() != null) {
        ack.set("data", eventResult.answer());
      }
      send(ack);
    }
  }

  private static JsonNode read(String text) {
    var message = WebSocketConnection.parseJson(text);
    if (!message.path("event").isString()) {
      throw new Rejection.Invalid("a message is {\"event\":\"…\",\"data\":…}, with an optional id");
    }
    var id = message.path("id");
    if (!id.isMissingNode()
        && !((id.isString() || id.isIntegralNumber()) && id.asString().length() <= ID_CHARACTERS)) {
      throw new Rejection.Invalid(
          "id must be a whole number, or a string of at most " + ID_CHARACTERS + " characters");
    }
    return message;
  }

  private void sendError(EventResult eventResult) throws IOException, InterruptedException {
    if (eventResult.error() != null) {
      emit(EventResult.ERROR, eventResult.error());
    }
  }

  private void send(JsonNode message) throws IOException, InterruptedException {
    webSocketConnection.send(Json.mapper().writeValueAsString(message));
  }
}
