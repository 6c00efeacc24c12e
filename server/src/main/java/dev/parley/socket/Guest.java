package dev.parley.socket;

import dev.parley.door.Tokens;
import dev.parley.protocol.Json;
import dev.parley.protocol.Rejection;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.net.InetAddress;
import java.time.Duration;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.NullNode;

/// The Socket.IO session of a connection: connects, dispatches events, and disconnects.
///
/// It runs on its own thread, and handles one packet after the other.
final class Guest {

  private static final System.Logger LOG = System.getLogger(Guest.class.getName());
  private static final Duration FOR_EVER = Duration.ofDays(1);

  /// The dependencies of a session; `token` is the one in the headers of the first request, and
  /// `address` the client's.
  record Parts(
      Visit.Host host,
      Tokens tokens,
      Supplier<String> ids,
      @Nullable String token,
      InetAddress address) {}

  private final Connection connection;
  private final Parts parts;
  private @Nullable Named peer;
  private @Nullable Visit visit;

  Guest(Connection connection, Parts parts) {
    this.connection = connection;
    this.parts = parts;
  }

  void start() {
    Thread.ofVirtual().name("socket-io-guest").start(this::run);
  }

  private void run() {
    try {
      for (var texts = connection.inbox.takeAll(FOR_EVER);
          !texts.isEmpty() || !connection.inbox.closed();
          texts = connection.inbox.takeAll(FOR_EVER)) {
        for (var text : texts) {
          hear(text);
        }
      }
    } catch (Rejection wrong) {
      connection.close(1002, String.valueOf(wrong.getMessage()));
    } catch (IOException | InterruptedException gone) {
      connection.close(1001, String.valueOf(gone.getMessage()));
    } catch (RuntimeException failed) { // This is the root of a thread: one for each connection.
      LOG.log(Level.ERROR, "a connection failed", failed);
      connection.close(1011, "the server failed; see its log");
    } finally {
      leave();
    }
  }

  private void hear(String text) throws IOException, InterruptedException {
    IoPacket packet;
    try {
      packet = IoPacket.decode(text);
    } catch (Rejection wrong) {
      if (visit == null) {
        throw wrong;
      }
      // The error is sent first, so that the client has the reason.
      turnAway(Heard.refused("", wrong));
      return;
    }
    switch (packet.type()) {
      case CONNECT -> connect(packet);
      case EVENT -> event(packet);
      case DISCONNECT -> {
        leave();
        connection.known(false);
      }
      case ACK -> {} // The server requests no acknowledgements.
      case CONNECT_ERROR, BINARY_EVENT, BINARY_ACK ->
          throw new IllegalStateException("not decoded: " + packet.type());
    }
  }

  private void connect(IoPacket packet) throws IOException, InterruptedException {
    if (!packet.namespace().equals(IoPacket.MAIN)) {
      var data = Json.object().put("message", "Invalid namespace");
      connection.send(new IoPacket(IoPacket.Type.CONNECT_ERROR, packet.namespace(), null, data));
      return;
    }
    if (visit != null) {
      throw new Rejection.Invalid("connected already");
    }
    String principal;
    try {
      principal = parts.tokens().principal(token(packet.data()), parts.address());
    } catch (Rejection.Unauthorized | Rejection.Busy unknown) {
      refuse(unknown);
      return;
    }
    var named = new Named(parts.ids().get(), principal);
    connection.known(true);
    var data = Json.object().put("sid", named.id());
    connection.send(new IoPacket(IoPacket.Type.CONNECT, IoPacket.MAIN, null, data));
    try {
      visit = parts.host().welcome(named);
      peer = named;
    } catch (Rejection refused) {
      turnAway(Heard.refused("connect", refused));
    }
  }

  private @Nullable String token(@Nullable JsonNode auth) {
    return auth != null && auth.path("token").isString()
        ? auth.path("token").asString()
        : parts.token();
  }

  private void refuse(Rejection unknown) throws IOException, InterruptedException {
    var data = Json.object().put("message", String.valueOf(unknown.getMessage()));
    data.putObject("data").put("code", unknown.code());
    connection.send(new IoPacket(IoPacket.Type.CONNECT_ERROR, IoPacket.MAIN, null, data));
  }

  private void event(IoPacket packet) throws IOException, InterruptedException {
    if (visit == null || packet.data() == null || !packet.namespace().equals(IoPacket.MAIN)) {
      throw new Rejection.Invalid("connect first");
    }
    var name = packet.data().path(0).asString();
    var heard =
        packet.data().size() > 2
            ? Heard.refused(name, new Rejection.Invalid("an event takes one argument"))
            : Heard.by(visit, name, argument(packet.data()));
    if (heard.error() != null) {
      connection.send(IoPacket.event(Heard.ERROR, heard.error()));
    }
    if (packet.id() != null) {
      connection.send(IoPacket.ack(packet.id(), answer(heard)));
    }
  }

  private static JsonNode argument(JsonNode data) {
    return data.size() > 1 ? data.path(1) : NullNode.getInstance();
  }

  private static JsonNode answer(Heard heard) {
    if (heard.error() != null) {
      return Json.object().set("error", heard.error());
    }
    return heard.answer() == null ? NullNode.getInstance() : heard.answer();
  }

  /// Sends the error and a disconnect packet. The client then closes the connection, or a timeout
  /// closes it.
  private void turnAway(Heard heard) throws IOException, InterruptedException {
    if (heard.error() != null) {
      connection.send(IoPacket.event(Heard.ERROR, heard.error()));
    }
    leave();
    connection.send(new IoPacket(IoPacket.Type.DISCONNECT, IoPacket.MAIN, null, null));
    connection.known(false);
  }

  private void leave() {
    var left = visit;
    visit = null;
    if (peer != null) {
      peer.left = true;
      peer = null;
    }
    if (left != null) {
      left.end();
    }
  }

  /// A peer that has connected.
  private final class Named implements Peer {
    private final String id;
    private final String principal;
    private volatile boolean left;

    Named(String id, String principal) {
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
      if (left) {
        throw new IOException("the peer has disconnected");
      }
      connection.send(IoPacket.event(event, argument));
    }

    @Override
    public void emitAll(Volley volley) throws IOException, InterruptedException {
      if (left) {
        throw new IOException("the peer has disconnected");
      }
      connection.send(volley.packets());
    }
  }
}
