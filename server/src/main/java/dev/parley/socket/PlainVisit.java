package dev.parley.socket;

import dev.parley.door.Socket;
import dev.parley.door.SocketJson;
import dev.parley.protocol.Json;
import dev.parley.protocol.Rejection;
import java.io.IOException;
import java.util.List;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.NullNode;

/// A peer on a plain WebSocket: `{"event":…,"data":…}` in both directions, and
/// `{"ack":id,"data":…}` for events with an `id`.
final class PlainVisit implements Peer {

  private static final int ID_CHARACTERS = 128;

  private final Socket socket;
  private final String id;
  private final String principal;

  PlainVisit(Socket socket, String id, String principal) {
    this.socket = socket;
    this.id = id;
    this.principal = principal;
  }

  @Override
  public String id() {
    return id;
  }

  @Override
  public String principal() {
    return principal;
  }

  @Override
  public void emit(String event, JsonNode argument) throws IOException, InterruptedException {
    send(Json.object().put("event", event).set("data", argument));
  }

  @Override
  public void emitAll(Volley volley) throws IOException, InterruptedException {
    socket.send(List.of(volley.messages()));
  }

  /// Receives events until the peer disconnects.
  void serve(Visit.Host host) throws IOException, InterruptedException {
    var visit = host.welcome(this);
    try {
      for (var text = socket.receive(); text != null; text = socket.receive()) {
        hear(visit, text);
      }
    } finally {
      visit.end();
    }
  }

  private void hear(Visit visit, String text) throws IOException, InterruptedException {
    JsonNode message;
    try {
      message = read(text);
    } catch (Rejection wrong) {
      tell(Heard.refused("", wrong));
      return;
    }
    var data = message.path("data");
    var heard =
        Heard.by(
            visit,
            message.path("event").asString(),
            data.isMissingNode() ? NullNode.getInstance() : data);
    tell(heard);
    if (message.has("id")) {
      var ack = Json.object().set("ack", message.path("id"));
      if (heard.error() != null) {
        ack.set("error", heard.error());
      } else if (heard.answer() != null) {
        ack.set("data", heard.answer());
      }
      send(ack);
    }
  }

  private static JsonNode read(String text) {
    var message = SocketJson.read(text);
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

  private void tell(Heard heard) throws IOException, InterruptedException {
    if (heard.error() != null) {
      emit(Heard.ERROR, heard.error());
    }
  }

  private void send(JsonNode message) throws IOException, InterruptedException {
    socket.send(Json.mapper().writeValueAsString(message));
  }
}
