package dev.parley.socketio;

import dev.parley.runtime.Threads;
import dev.parley.runtime.Time;
import java.time.Duration;

/// Pings the peer of a connection, and closes the connection on a timeout.
///
/// Times are milliseconds since its creation; the monitor guards them.
final class ConnectionHeartbeat {

  private static final long NEVER = Long.MAX_VALUE;

  private final Time time;
  private final Threads threads;
  private final long began;
  private final SocketIoSettings settings;
  private final EngineConnection engineConnection;
  private boolean stopped;
  private boolean attached;
  private long pingAt;
  private long pongBy = NEVER;
  private long connectBy;
  private long pollBy = NEVER;
  private long upgradeBy = NEVER;

  ConnectionHeartbeat(SocketIoDependencies dependencies, EngineConnection engineConnection) {
    this.settings = dependencies.socketSettings();
    this.time = dependencies.time();
    this.threads = dependencies.threads();
    this.began = time.nanos();
    this.engineConnection = engineConnection;
    this.pingAt = in(settings.pingInterval());
    this.connectBy = in(settings.connectTimeout());
  }

  void start() {
    threads.start("socket-io-heartbeat", this::run);
  }

  private void run() {
    try {
      for (var why = await(); !why.isEmpty(); why = await()) {
        if (why.equals("upgrade")) {
          engineConnection.giveUpProbe();
        } else if (why.equals("ping")) {
          engineConnection.sendUrgent(EngineIoPacket.Type.PING);
        } else {
          engineConnection.close(1008, why);
          return;
        }
      }
    } catch (InterruptedException told) {
      engineConnection.close(1001, "interrupted");
    }
  }

  /// Waits for the next action: `ping`, `upgrade`, the reason to close, or empty when stopped.
  private synchronized String await() throws InterruptedException {
    while (!stopped) {
      var now = now();
      if (now >= pongBy) {
        return "no pong arrived in time";
      }
      if (now >= connectBy) {
        return "the client did not connect in time";
      }
      if (now >= pollBy) {
        return "the client did not poll in time";
      }
      if (now >= upgradeBy) {
        upgradeBy = NEVER;
        return "upgrade";
      }
      if (now >= pingAt) {
        pingAt = NEVER;
        pongBy = in(settings.pingTimeout());
        return "ping";
      }
      var next =
          Math.min(Math.min(pingAt, pongBy), Math.min(connectBy, Math.min(pollBy, upgradeBy)));
      if (next == NEVER) {
        wait();
      } else {
        time.waitUntil(this, began + next * 1_000_000);
      }
    }
    return "";
  }

  /// A pong has arrived.
  synchronized void ponged() {
    pongBy = NEVER;
    pingAt = in(settings.pingInterval());
    notifyAll();
  }

  /// A request waits for packets.
  synchronized void polling() {
    pollBy = NEVER;
  }

  /// No request waits any more.
  synchronized void polled() {
    pollBy = attached ? NEVER : in(settings.pingTimeout());
    notifyAll();
  }

  /// An upgrade to a WebSocket has started.
  synchronized void probing() {
    upgradeBy = in(settings.upgradeTimeout());
    notifyAll();
  }

  /// The upgrade has ended, successfully or not.
  synchronized void probed() {
    upgradeBy = NEVER;
  }

  /// The connection is a WebSocket.
  synchronized void attached() {
    attached = true;
    pollBy = NEVER;
  }

  /// The peer has connected or disconnected at the level of Socket.IO.
  synchronized void setIdentified(boolean known) {
    connectBy = known ? NEVER : in(settings.connectTimeout());
    notifyAll();
  }

  synchronized void stop() {
    stopped = true;
    notifyAll();
  }

  private long now() {
    return (time.nanos() - began) / 1_000_000;
  }

  private long in(Duration time) {
    return now() + time.toMillis();
  }
}
