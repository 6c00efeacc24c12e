package dev.parley.socketio;

import dev.parley.http.EncodedFrames;
import dev.parley.http.OpenStreams;
import dev.parley.http.WebSocketConnection;
import dev.parley.protocol.Rejection;
import dev.parley.runtime.Threads;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// A connection of Engine.IO. It starts with polling requests and may be upgraded to a WebSocket,
/// or it is a WebSocket from the start.
///
/// Outgoing packets wait in `outbox` for the polling request or the WebSocket's writer; incoming
/// packets wait in `inbox` for the thread of [SocketIoSession]. The monitor guards the mutable fields.
final class EngineConnection {

  private static final Duration FOR_EVER = Duration.ofDays(1);

  /// How long a polling request waits during an upgrade to a WebSocket.
  private static final Duration PROBING_POLL = Duration.ofMillis(100);

  final String sid;
  final PacketQueue<EncodedFrames> outbox;
  final PacketQueue<String> inbox;
  private final SocketIoSettings settings;
  private final Duration stall;
  private final Threads threads;
  private final ConnectionHeartbeat heartbeat;
  private final Runnable onClose;
  private final AtomicBoolean closed = new AtomicBoolean();
  private OpenStreams.@Nullable StreamSlot slot;
  private @Nullable WebSocketConnection probe;
  private @Nullable WebSocketConnection webSocketConnection;
  private boolean polling;
  private boolean posting;
  private @Nullable CloseReason closeReason;

  /// The close code and reason for the WebSocket.
  private record CloseReason(int code, String reason) {

    void applyTo(@Nullable WebSocketConnection webSocketConnection) {
      if (webSocketConnection != null) {
        webSocketConnection.close(code, reason);
      }
    }
  }

  /// @param onClose is called once, when the connection is closed
  EngineConnection(String sid, SocketIoDependencies dependencies, Runnable onClose) {
    this.sid = sid;
    this.settings = dependencies.socketSettings();
    this.stall = dependencies.limits().stall();
    this.threads = dependencies.threads();
    this.onClose = onClose;
    var time = dependencies.time();
    this.outbox = new PacketQueue<>(settings.outboxBytes(), EncodedFrames::size, time);
    this.inbox = new PacketQueue<>(settings.outboxBytes(), String::length, time);
    this.heartbeat = new ConnectionHeartbeat(dependencies, this);
    heartbeat.start();
  }

  /// Makes this a polling connection, which holds a stream slot until a WebSocket holds one.
  void holdSlot(OpenStreams.StreamSlot taken) {
    synchronized (this) {
      slot = taken;
    }
    heartbeat.polled();
    if (closed.get()) {
      // The closing thread found no slot to release.
      release();
    }
  }

  private void release() {
    OpenStreams.StreamSlot taken;
    synchronized (this) {
      taken = slot;
      slot = null;
    }
    if (taken != null) {
      taken.close();
    }
  }

  /// Waits for packets, and returns them as the body of a poll reply.
  ///
  /// @throws Rejection.Invalid if another poll is waiting; the connection is closed then
  String poll() throws InterruptedException {
    boolean twice;
    Duration patience;
    synchronized (this) {
      checkPolling();
      twice = polling;
      polling = true;
      patience = probe == null ? pollMax() : PROBING_POLL;
    }
    if (twice) {
      close(1002, "two polls at the same time");
      throw new Rejection.Invalid("another poll is already waiting");
    }
    heartbeat.polling();
    try {
      var packets = outbox.takeAll(patience);
      if (packets.isEmpty()) {
        return EngineIoPacket.bare(
            closed.get() ? EngineIoPacket.Type.CLOSE : EngineIoPacket.Type.NOOP);
      }
      return packets.stream()
          .flatMap(encodedFrames -> encodedFrames.texts().stream())
          .collect(Collectors.joining(Character.toString(EngineIoPacket.SEPARATOR)));
    } finally {
      synchronized (this) {
        polling = false;
      }
      heartbeat.polled();
    }
  }

  /// Less than the listener's timeout for silent connections.
  private Duration pollMax() {
    var half = stall.dividedBy(2);
    // Usually a ping ends the wait earlier.
    var ping = settings.pingInterval().plus(settings.pingTimeout());
    return half.compareTo(ping) < 0 ? half : ping;
  }

  /// Receives the packets in the body of a request.
  ///
  /// @throws Rejection if they are malformed, or another request is sending packets; the connection
  /// is closed then
  void post(String body) throws InterruptedException {
    boolean twice;
    synchronized (this) {
      checkPolling();
      twice = posting;
      posting = true;
    }
    if (twice) {
      close(1002, "two requests with packets at the same time");
      throw new Rejection.Invalid("another request is already sending packets");
    }
    try {
      for (var packet : EngineIoPacket.decodeAll(body)) {
        receive(packet);
      }
    } catch (Rejection wrong) {
      close(1002, String.valueOf(wrong.getMessage()));
      throw wrong;
    } finally {
      synchronized (this) {
        posting = false;
      }
    }
  }

  private void checkPolling() {
    if (webSocketConnection != null) {
      throw new Rejection.Invalid("this connection is a WebSocket now");
    }
  }

  /// Serves a connection that is a WebSocket from the start.
  void serve(WebSocketConnection from, String open) throws IOException, InterruptedException {
    try {
      from.send(open);
      attach(from);
      receiveAll(from);
    } finally {
      close(1000, "");
    }
  }

  /// Upgrades to a WebSocket, if the peer completes the upgrade.
  void upgrade(WebSocketConnection to) throws IOException, InterruptedException {
    synchronized (this) {
      if (probe != null || webSocketConnection != null) {
        throw new Rejection.Invalid("this connection has a WebSocket already");
      }
      probe = to;
    }
    heartbeat.probing();
    try {
      if (!"2probe".equals(to.receive())) {
        return;
      }
      to.send("3probe");
      // Ends the waiting poll, because the peer waits for its reply.
      sendUrgent(EngineIoPacket.Type.NOOP);
      if (!EngineIoPacket.bare(EngineIoPacket.Type.UPGRADE).equals(to.receive())) {
        return;
      }
      attach(to);
    } finally {
      synchronized (this) {
        probe = null;
      }
      heartbeat.probed();
    }
    try {
      receiveAll(to);
    } finally {
      close(1000, "");
    }
  }

  private void attach(WebSocketConnection to) {
    CloseReason already;
    synchronized (this) {
      webSocketConnection = to;
      already = closeReason;
    }
    release();
    heartbeat.attached();
    threads.start("socket-io-writer", () -> write(to));
    if (already != null) {
      // The closing thread found no socket to close.
      already.applyTo(to);
    }
  }

  private void receiveAll(WebSocketConnection from) throws InterruptedException {
    try {
      for (var text = from.receive(); text != null; text = from.receive()) {
        receive(EngineIoPacket.decode(text));
      }
    } catch (Rejection.Invalid wrong) {
      from.close(1002, String.valueOf(wrong.getMessage()));
    }
  }

  private void write(WebSocketConnection to) {
    try {
      for (var packets = outbox.takeAll(FOR_EVER);
          !packets.isEmpty() || !outbox.closed();
          packets = outbox.takeAll(FOR_EVER)) {
        if (!packets.isEmpty()) {
          to.send(packets);
        }
      }
    } catch (IOException | InterruptedException left) {
      close(1008, String.valueOf(left.getMessage()));
    }
  }

  private void receive(EngineIoPacket packet) throws InterruptedException {
    switch (packet.type()) {
      case MESSAGE -> inbox.put(packet.data(), FOR_EVER);
      case PONG -> heartbeat.ponged();
      case CLOSE -> {
        sendUrgent(EngineIoPacket.Type.NOOP);
        close(1000, "");
      }
      case UPGRADE, NOOP -> {}
      case OPEN, PING -> throw new Rejection.Invalid("only servers send this packet");
    }
  }

  /// Sends a message, and waits while the outbox is full.
  ///
  /// @throws IOException if the peer has disconnected, or was disconnected because it did not read
  /// for too long
  void send(SocketIoPacket packet) throws IOException, InterruptedException {
    send(EncodedFrames.of(EngineIoPacket.message(packet.encode())));
  }

  /// The same, for encoded packets.
  void send(EncodedFrames packets) throws IOException, InterruptedException {
    if (!outbox.put(packets, stall)) {
      close(1008, "the peer did not read for too long");
      throw new IOException("the peer has disconnected, or does not read");
    }
  }

  /// Sends a packet without data, even if the outbox is full.
  void sendUrgent(EngineIoPacket.Type type) {
    outbox.putUrgent(EncodedFrames.of(EngineIoPacket.bare(type)));
  }

  /// The peer has connected or disconnected at the level of Socket.IO.
  void setIdentified(boolean known) {
    heartbeat.setIdentified(known);
  }

  /// Aborts an upgrade that takes too long.
  void giveUpProbe() {
    WebSocketConnection slow;
    synchronized (this) {
      slow = probe;
    }
    if (slow != null) {
      slow.close(1002, "the upgrade took too long");
    }
  }

  /// Closes the connection. A peer that polls at once still gets the waiting packets.
  void close(int code, String reason) {
    if (closed.getAndSet(true)) {
      return;
    }
    // First, so that the connection is no longer counted when the session ends.
    onClose.run();
    outbox.close();
    inbox.close();
    heartbeat.stop();
    var last = new CloseReason(code, reason);
    WebSocketConnection open;
    WebSocketConnection probed;
    synchronized (this) {
      closeReason = last;
      open = webSocketConnection;
      probed = probe;
    }
    last.applyTo(open);
    last.applyTo(probed);
    release();
  }
}
