package dev.parley.socket;

import dev.parley.door.Parcel;
import dev.parley.door.Socket;
import dev.parley.door.Streams;
import dev.parley.protocol.Rejection;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// A connection of Engine.IO. It starts with polling requests and may be upgraded to a WebSocket,
/// or it is a WebSocket from the start.
///
/// Outgoing packets wait in `outbox` for the polling request or the WebSocket's writer; incoming
/// packets wait in `inbox` for the thread of [Guest]. The monitor guards the mutable fields.
final class Connection {

  private static final Duration FOR_EVER = Duration.ofDays(1);

  /// How long a polling request waits during an upgrade to a WebSocket.
  private static final Duration PROBING_POLL = Duration.ofMillis(100);

  final String sid;
  final Box<Parcel> outbox;
  final Box<String> inbox;
  private final Pace pace;
  private final Duration stall;
  private final Heart heart;
  private final Runnable gone;
  private final AtomicBoolean closed = new AtomicBoolean();
  private Streams.@Nullable Open place;
  private @Nullable Socket probe;
  private @Nullable Socket socket;
  private boolean polling;
  private boolean posting;
  private @Nullable Farewell farewell;

  /// The close code and reason for the WebSocket.
  private record Farewell(int code, String reason) {

    void to(@Nullable Socket socket) {
      if (socket != null) {
        socket.close(code, reason);
      }
    }
  }

  /// @param gone is called once, when the connection is closed
  Connection(String sid, Pace pace, Duration stall, Runnable gone) {
    this.sid = sid;
    this.pace = pace;
    this.stall = stall;
    this.gone = gone;
    this.outbox = new Box<>(pace.outbox(), Parcel::size);
    this.inbox = new Box<>(pace.outbox(), String::length);
    this.heart = new Heart(pace, this);
    heart.start();
  }

  /// Makes this a polling connection, which holds a stream slot until a WebSocket holds one.
  void hold(Streams.Open taken) {
    synchronized (this) {
      place = taken;
    }
    heart.polled();
    if (closed.get()) {
      // The closing thread found no slot to release.
      release();
    }
  }

  private void release() {
    Streams.Open taken;
    synchronized (this) {
      taken = place;
      place = null;
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
      patience = probe == null ? longest() : PROBING_POLL;
    }
    if (twice) {
      close(1002, "two polls at the same time");
      throw new Rejection.Invalid("another poll is already waiting");
    }
    heart.polling();
    try {
      var packets = outbox.takeAll(patience);
      if (packets.isEmpty()) {
        return EnginePacket.bare(closed.get() ? EnginePacket.Type.CLOSE : EnginePacket.Type.NOOP);
      }
      return packets.stream()
          .flatMap(parcel -> parcel.texts().stream())
          .collect(Collectors.joining(Character.toString(EnginePacket.SEPARATOR)));
    } finally {
      synchronized (this) {
        polling = false;
      }
      heart.polled();
    }
  }

  /// Less than the listener's timeout for silent connections.
  private Duration longest() {
    var half = stall.dividedBy(2);
    // Usually a ping ends the wait earlier.
    var ping = pace.pingInterval().plus(pace.pingTimeout());
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
      for (var packet : EnginePacket.decodeAll(body)) {
        take(packet);
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
    if (socket != null) {
      throw new Rejection.Invalid("this connection is a WebSocket now");
    }
  }

  /// Serves a connection that is a WebSocket from the start.
  void serve(Socket from, String open) throws IOException, InterruptedException {
    try {
      from.send(open);
      attach(from);
      listen(from);
    } finally {
      close(1000, "");
    }
  }

  /// Upgrades to a WebSocket, if the peer completes the upgrade.
  void upgrade(Socket to) throws IOException, InterruptedException {
    synchronized (this) {
      if (probe != null || socket != null) {
        throw new Rejection.Invalid("this connection has a WebSocket already");
      }
      probe = to;
    }
    heart.probing();
    try {
      if (!"2probe".equals(to.receive())) {
        return;
      }
      to.send("3probe");
      // Ends the waiting poll, because the peer waits for its reply.
      urge(EnginePacket.Type.NOOP);
      if (!EnginePacket.bare(EnginePacket.Type.UPGRADE).equals(to.receive())) {
        return;
      }
      attach(to);
    } finally {
      synchronized (this) {
        probe = null;
      }
      heart.probed();
    }
    try {
      listen(to);
    } finally {
      close(1000, "");
    }
  }

  private void attach(Socket to) {
    Farewell already;
    synchronized (this) {
      socket = to;
      already = farewell;
    }
    release();
    heart.attached();
    Thread.ofVirtual().name("socket-io-writer").start(() -> write(to));
    if (already != null) {
      // The closing thread found no socket to close.
      already.to(to);
    }
  }

  private void listen(Socket from) throws InterruptedException {
    try {
      for (var text = from.receive(); text != null; text = from.receive()) {
        take(EnginePacket.decode(text));
      }
    } catch (Rejection.Invalid wrong) {
      from.close(1002, String.valueOf(wrong.getMessage()));
    }
  }

  private void write(Socket to) {
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

  private void take(EnginePacket packet) throws InterruptedException {
    switch (packet.type()) {
      case MESSAGE -> inbox.put(packet.data(), FOR_EVER);
      case PONG -> heart.ponged();
      case CLOSE -> {
        urge(EnginePacket.Type.NOOP);
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
  void send(IoPacket packet) throws IOException, InterruptedException {
    send(Parcel.of(EnginePacket.message(packet.encode())));
  }

  /// The same, for encoded packets.
  void send(Parcel packets) throws IOException, InterruptedException {
    if (!outbox.put(packets, stall)) {
      close(1008, "the peer did not read for too long");
      throw new IOException("the peer has disconnected, or does not read");
    }
  }

  /// Sends a packet without data, even if the outbox is full.
  void urge(EnginePacket.Type type) {
    outbox.urge(Parcel.of(EnginePacket.bare(type)));
  }

  /// The peer has connected or disconnected at the level of Socket.IO.
  void known(boolean known) {
    heart.known(known);
  }

  /// Aborts an upgrade that takes too long.
  void giveUpProbe() {
    Socket slow;
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
    gone.run();
    outbox.close();
    inbox.close();
    heart.stop();
    var last = new Farewell(code, reason);
    Socket open;
    Socket probed;
    synchronized (this) {
      farewell = last;
      open = socket;
      probed = probe;
    }
    last.to(open);
    last.to(probed);
    release();
  }
}
