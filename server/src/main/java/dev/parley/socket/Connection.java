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

/// A connection of Engine.IO: at first requests that wait for packets and requests that bring some, then a
/// WebSocket, or that from the start.
///
/// What goes out waits in `outbox`, which is emptied by the request that waits or by the WebSocket's writer;
/// what comes in waits in `inbox` for the thread of [Guest]. The monitor guards the fields that change.
final class Connection {

  private static final Duration FOR_EVER = Duration.ofDays(1);

  /// How long a request waits while the peer moves to a WebSocket.
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

  /// What is said to a socket when the connection is closed.
  private record Farewell(int code, String reason) {

    void to(@Nullable Socket socket) {
      if (socket != null) {
        socket.close(code, reason);
      }
    }
  }

  /// @param gone is run once, when the connection is closed
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

  /// Makes it one that begins with requests, which hold a place until there is a socket that does.
  void hold(Streams.Open taken) {
    synchronized (this) {
      place = taken;
    }
    heart.polled();
    if (closed.get()) {
      // Nobody else will: whoever closed it found no place.
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

  /// Waits for packets, and returns them as the body of a reply.
  ///
  /// @throws Rejection.Invalid if another request waits already; the connection is closed
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
      close(1002, "two requests waited at once");
      throw new Rejection.Invalid("another request waits already");
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

  /// Shorter than the time after which the listener takes a silent connection for dead.
  private Duration longest() {
    var half = stall.dividedBy(2);
    // A ping ends the wait before that, as a rule.
    var ping = pace.pingInterval().plus(pace.pingTimeout());
    return half.compareTo(ping) < 0 ? half : ping;
  }

  /// Takes packets from the body of a request.
  ///
  /// @throws Rejection if they are none, or another request brings some; the connection is closed
  void post(String body) throws InterruptedException {
    boolean twice;
    synchronized (this) {
      checkPolling();
      twice = posting;
      posting = true;
    }
    if (twice) {
      close(1002, "two requests brought packets at once");
      throw new Rejection.Invalid("another request brings packets already");
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

  /// Talks on a WebSocket that is the connection from the start.
  void serve(Socket from, String open) throws IOException, InterruptedException {
    try {
      from.send(open);
      attach(from);
      listen(from);
    } finally {
      close(1000, "");
    }
  }

  /// Moves to a WebSocket, if the peer goes through with it.
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
      // Lets the request that waits go, for the peer waits for it.
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
      // Whoever closed it found no socket.
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
      case OPEN, PING -> throw new Rejection.Invalid("this packet comes from servers only");
    }
  }

  /// Sends a message, and waits while too much waits already.
  ///
  /// @throws IOException if the peer has left, or has not read for too long and was sent away
  void send(IoPacket packet) throws IOException, InterruptedException {
    send(Parcel.of(EnginePacket.message(packet.encode())));
  }

  /// The same, of packets that are written already.
  void send(Parcel packets) throws IOException, InterruptedException {
    if (!outbox.put(packets, stall)) {
      close(1008, "too much was not read for too long");
      throw new IOException("the peer has left, or does not read");
    }
  }

  /// Sends a packet without data, even if too much waits already.
  void urge(EnginePacket.Type type) {
    outbox.urge(Parcel.of(EnginePacket.bare(type)));
  }

  /// The peer has said who it is, or no longer is anybody.
  void known(boolean known) {
    heart.known(known);
  }

  /// Gives up a move to a WebSocket that takes too long.
  void giveUpProbe() {
    Socket slow;
    synchronized (this) {
      slow = probe;
    }
    if (slow != null) {
      slow.close(1002, "the upgrade took too long");
    }
  }

  /// Ends it. What waits to be sent is sent if the peer comes for it at once.
  void close(int code, String reason) {
    if (closed.getAndSet(true)) {
      return;
    }
    // First, so that it is no longer counted when the visit ends.
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
