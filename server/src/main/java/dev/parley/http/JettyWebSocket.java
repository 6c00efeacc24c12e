package dev.parley.http;

import dev.parley.audit.AuditEvent.Actor;
import dev.parley.protocol.Rejection;
import dev.parley.runtime.Threads;
import dev.parley.runtime.Time;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import org.eclipse.jetty.util.BufferUtil;
import org.eclipse.jetty.util.Callback;
import org.eclipse.jetty.websocket.core.CloseStatus;
import org.eclipse.jetty.websocket.core.CoreSession;
import org.eclipse.jetty.websocket.core.Frame;
import org.eclipse.jetty.websocket.core.FrameHandler;
import org.eclipse.jetty.websocket.core.OpCode;
import org.jspecify.annotations.Nullable;

/// A WebSocket connection of Jetty.
///
/// It does not read ahead: while a message waits to be received, the next one waits on the network.
/// Jetty's threads call the methods of [FrameHandler], one at a time, and never block in them. The
/// monitor guards the pending message, the closing state and the ping state.
final class JettyWebSocket implements WebSocketConnection, FrameHandler {

  private static final System.Logger LOG = System.getLogger(JettyWebSocket.class.getName());

  /// How long the peer may take to answer a close frame.
  private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(2);

  /// How many pings a silent peer gets before the connection is closed.
  private static final int PINGS = 3;

  /// The dependencies of every connection.
  record JettyWebSocketDependencies(
      OpenStreams streams, HttpLimits limits, Time time, Threads threads) {}

  private final WebSocketConnection.WebSocketHandler webSocketHandler;
  private final Actor actor;
  private final JettyWebSocketDependencies dependencies;
  private final HttpLimits httpLimits;
  private final Time time;
  private final ByteArrayOutputStream parts = new ByteArrayOutputStream();
  private @Nullable CoreSession opened;
  private @Nullable SocketWriter writer;
  private @Nullable String message;
  private boolean closing;
  private boolean closed;
  private long lastReceivedNanos;

  /// How many pings were sent since the last received frame.
  private int pingsSent;

  JettyWebSocket(
      WebSocketConnection.WebSocketHandler webSocketHandler,
      Actor actor,
      JettyWebSocketDependencies dependencies) {
    this.webSocketHandler = webSocketHandler;
    this.actor = actor;
    this.dependencies = dependencies;
    this.httpLimits = dependencies.limits();
    this.time = dependencies.time();
    this.lastReceivedNanos = time.nanos();
  }

  @Override
  public @Nullable String receive() throws InterruptedException {
    var quiet = httpLimits.stall().dividedBy(PINGS);
    while (true) {
      String received;
      synchronized (this) {
        if (message == null && !closing) {
          time.waitUntil(this, time.deadline(quiet));
        }
        if (closing) {
          return null;
        }
        received = message;
        message = null;
      }
      if (received != null) {
        session().demand();
        return received;
      }
      check(quiet);
    }
  }

  /// Pings a silent peer, and closes the connection if the peer was silent for too long.
  private void check(Duration quiet) {
    boolean over;
    synchronized (this) {
      var silence = time.nanos() - lastReceivedNanos;
      if (silence < quiet.toNanos() / 2) {
        return;
      }
      // With fewer pings this machine may have slept, and the peer could not answer.
      over = pingsSent >= PINGS - 1 && silence >= httpLimits.stall().toNanos();
      pingsSent++;
    }
    if (over) {
      close(
          CloseStatus.SHUTDOWN,
          "nothing was received for " + httpLimits.stall().toSeconds() + " s");
    } else {
      session().sendFrame(new Frame(OpCode.PING), Callback.NOOP, false);
    }
  }

  @Override
  public void send(List<EncodedFrames> parcels) throws IOException, InterruptedException {
    synchronized (this) {
      if (closing) {
        throw new IOException("the socket is closed");
      }
    }
    Objects.requireNonNull(writer).write(parcels);
  }

  @Override
  public void close(int code, String reason) {
    boolean held;
    synchronized (this) {
      if (closing) {
        return;
      }
      closing = true;
      held = message != null;
      message = null;
      notifyAll();
    }
    session().close(code, reason, Callback.NOOP);
    if (held) {
      // The peer's close frame follows the other frames that it has sent.
      session().demand();
    }
  }

  @Override
  public void onOpen(CoreSession session, Callback callback) {
    opened = session;
    writer = new SocketWriter(session, httpLimits.stall(), time);
    callback.succeeded();
    session.demand();
    OpenStreams.StreamSlot place;
    try {
      place =
          dependencies.streams().open(() -> close(CloseStatus.SHUTDOWN, "the server is stopping"));
    } catch (Rejection.Busy full) {
      close(CloseStatus.TRY_AGAIN_LATER, String.valueOf(full.getMessage()));
      dependencies.threads().start("socket-farewell", this::awaitCloseOrAbort);
      return;
    }
    dependencies
        .threads()
        .start("socket", () -> ScopedValue.where(CurrentCaller.ACTOR, actor).run(() -> run(place)));
  }

  private void run(OpenStreams.StreamSlot place) {
    try (place) {
      runHandler();
      awaitCloseOrAbort();
    } catch (InterruptedException told) {
      session().abort();
    }
  }

  /// Waits for the peer's close frame, for a short time.
  private void awaitCloseOrAbort() {
    try {
      if (!awaitClosed()) {
        session().abort();
      }
    } catch (InterruptedException told) {
      session().abort();
    }
  }

  private void runHandler() throws InterruptedException {
    try {
      webSocketHandler.handle(this);
      close(CloseStatus.NORMAL, "");
    } catch (IOException gone) {
      close(CloseStatus.POLICY_VIOLATION, String.valueOf(gone.getMessage()));
    } catch (Rejection refused) {
      close(CloseStatus.POLICY_VIOLATION, refused.code() + ": " + refused.getMessage());
    } catch (RuntimeException wrong) { // This is the root of a thread: one for each socket.
      LOG.log(Level.ERROR, "a WebSocket handler failed", wrong);
      close(CloseStatus.SERVER_ERROR, "the server failed; see its log");
    }
  }

  private synchronized boolean awaitClosed() throws InterruptedException {
    var deadline = time.deadline(CLOSE_TIMEOUT);
    while (!closed && time.remaining(deadline) > 0) {
      time.waitUntil(this, deadline);
    }
    return closed;
  }

  @Override
  public void onFrame(Frame frame, Callback callback) {
    boolean unwanted;
    synchronized (this) {
      lastReceivedNanos = time.nanos();
      pingsSent = 0;
      unwanted = closing;
    }
    switch (frame.getOpCode()) {
      case OpCode.CLOSE -> callback.succeeded();
      case OpCode.PING -> {
        var echo = new Frame(OpCode.PONG, BufferUtil.copy(frame.getPayload()));
        callback.succeeded();
        // Reads the next frame only after the pong was sent: so a flood of pings does not queue
        // pongs.
        session().sendFrame(echo, Callback.from(session()::demand), false);
      }
      case OpCode.TEXT, OpCode.CONTINUATION -> {
        var next = unwanted || addPart(frame);
        callback.succeeded();
        if (next) {
          session().demand();
        }
      }
      case OpCode.BINARY -> {
        callback.succeeded();
        close(CloseStatus.BAD_DATA, "only text messages are supported");
        session().demand();
      }
      default -> {
        callback.succeeded();
        session().demand();
      }
    }
  }

  /// Adds a part of a message. True if the next frame may be read at once.
  private boolean addPart(Frame frame) {
    if (parts.size() + frame.getPayloadLength() > httpLimits.bodyBytes()) {
      parts.reset();
      close(
          CloseStatus.MESSAGE_TOO_LARGE,
          "a message may have at most " + httpLimits.bodyBytes() + " bytes");
      return true;
    }
    parts.writeBytes(BufferUtil.toArray(frame.getPayload()));
    if (!frame.isFin()) {
      return true;
    }
    var bytes = parts.toByteArray();
    parts.reset();
    try {
      var text = StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
      synchronized (this) {
        if (closing) {
          return true;
        }
        message = text;
        notifyAll();
        return false;
      }
    } catch (CharacterCodingException malformed) {
      close(CloseStatus.BAD_PAYLOAD, "the message is not UTF-8");
      return true;
    }
  }

  @Override
  public void onError(Throwable cause, Callback callback) {
    LOG.log(Level.DEBUG, "a WebSocket connection failed", cause);
    callback.succeeded();
  }

  @Override
  public void onClosed(CloseStatus status, Callback callback) {
    synchronized (this) {
      closing = true;
      closed = true;
      message = null;
      notifyAll();
    }
    callback.succeeded();
  }

  private CoreSession session() {
    return Objects.requireNonNull(opened);
  }
}
