package dev.parley.door;

import dev.parley.protocol.Rejection;
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

/// A WebSocket of Jetty's.
///
/// Nothing is read ahead: while a message waits to be received, the peer's next one waits on the network.
/// Jetty's threads call the methods of [FrameHandler], one at a time, and never wait in them. The monitor
/// guards `message`, `closing`, `closed`, `heard` and `asked`.
final class JettySocket implements Socket, FrameHandler {

  private static final System.Logger LOG = System.getLogger(JettySocket.class.getName());

  /// How long the peer has to answer when it was told that this is the end.
  private static final Duration FAREWELL = Duration.ofSeconds(2);

  /// A peer that is silent is pinged this many times before it is taken for gone.
  private static final int PINGS = 3;

  private final Socket.Handler handler;
  private final Streams streams;
  private final Limits limits;
  private final ByteArrayOutputStream parts = new ByteArrayOutputStream();
  private @Nullable CoreSession opened;
  private @Nullable Pen pen;
  private @Nullable String message;
  private boolean closing;
  private boolean closed;
  private long heard = System.nanoTime();

  /// How often the peer was pinged since it was heard.
  private int asked;

  JettySocket(Socket.Handler handler, Streams streams, Limits limits) {
    this.handler = handler;
    this.streams = streams;
    this.limits = limits;
  }

  @Override
  public @Nullable String receive() throws InterruptedException {
    var quiet = limits.stall().dividedBy(PINGS);
    while (true) {
      String received;
      synchronized (this) {
        if (message == null && !closing) {
          wait(Math.max(1, quiet.toMillis()));
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

  /// Asks a silent peer whether it is there, and leaves one that has not said so for long.
  private void check(Duration quiet) {
    boolean over;
    synchronized (this) {
      var silence = System.nanoTime() - heard;
      if (silence < quiet.toNanos() / 2) {
        return;
      }
      // If it was not asked often this machine may have slept, and it is we who were silent.
      over = asked >= PINGS - 1 && silence >= limits.stall().toNanos();
      asked++;
    }
    if (over) {
      close(CloseStatus.SHUTDOWN, "nothing was heard for " + limits.stall().toSeconds() + " s");
    } else {
      session().sendFrame(new Frame(OpCode.PING), Callback.NOOP, false);
    }
  }

  @Override
  public void send(List<Parcel> parcels) throws IOException, InterruptedException {
    synchronized (this) {
      if (closing) {
        throw new IOException("the socket is closed");
      }
    }
    Objects.requireNonNull(pen).write(parcels);
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
      // The peer's farewell comes behind whatever else it has sent.
      session().demand();
    }
  }

  @Override
  public void onOpen(CoreSession session, Callback callback) {
    opened = session;
    pen = new Pen(session, limits.stall());
    callback.succeeded();
    session.demand();
    Streams.Open place;
    try {
      place = streams.open(() -> close(CloseStatus.SHUTDOWN, "the server stops"));
    } catch (Rejection.Busy full) {
      close(CloseStatus.TRY_AGAIN_LATER, String.valueOf(full.getMessage()));
      Thread.ofVirtual().name("socket-farewell").start(this::leave);
      return;
    }
    Thread.ofVirtual().name("socket").start(() -> run(place));
  }

  private void run(Streams.Open place) {
    try (place) {
      talk();
      leave();
    } catch (InterruptedException told) {
      session().abort();
    }
  }

  /// Waits for the peer's farewell, but not for long.
  private void leave() {
    try {
      if (!awaitClosed()) {
        session().abort();
      }
    } catch (InterruptedException told) {
      session().abort();
    }
  }

  private void talk() throws InterruptedException {
    try {
      handler.handle(this);
      close(CloseStatus.NORMAL, "");
    } catch (IOException gone) {
      close(CloseStatus.POLICY_VIOLATION, String.valueOf(gone.getMessage()));
    } catch (Rejection refused) {
      close(CloseStatus.POLICY_VIOLATION, refused.code() + ": " + refused.getMessage());
    } catch (RuntimeException wrong) { // This is the root of a thread: one for each socket.
      LOG.log(Level.ERROR, "a socket failed", wrong);
      close(CloseStatus.SERVER_ERROR, "the server failed; see its log");
    }
  }

  private synchronized boolean awaitClosed() throws InterruptedException {
    var deadline = System.nanoTime() + FAREWELL.toNanos();
    for (var left = FAREWELL.toMillis(); !closed && left > 0; ) {
      wait(left);
      left = (deadline - System.nanoTime()) / 1_000_000;
    }
    return closed;
  }

  @Override
  public void onFrame(Frame frame, Callback callback) {
    boolean unwanted;
    synchronized (this) {
      heard = System.nanoTime();
      asked = 0;
      unwanted = closing;
    }
    switch (frame.getOpCode()) {
      case OpCode.CLOSE -> callback.succeeded();
      case OpCode.PING -> {
        var echo = new Frame(OpCode.PONG, BufferUtil.copy(frame.getPayload()));
        callback.succeeded();
        // Only when this is on its way the next frame is read: a flood of pings makes no heap of
        // pongs.
        session().sendFrame(echo, Callback.from(session()::demand), false);
      }
      case OpCode.TEXT, OpCode.CONTINUATION -> {
        var next = unwanted || part(frame);
        callback.succeeded();
        if (next) {
          session().demand();
        }
      }
      case OpCode.BINARY -> {
        callback.succeeded();
        close(CloseStatus.BAD_DATA, "only text is understood here");
        session().demand();
      }
      default -> {
        callback.succeeded();
        session().demand();
      }
    }
  }

  /// Takes a part of a message. True if the next frame may come at once.
  private boolean part(Frame frame) {
    if (parts.size() + frame.getPayloadLength() > limits.bodyBytes()) {
      parts.reset();
      close(
          CloseStatus.MESSAGE_TOO_LARGE,
          "a message may have at most " + limits.bodyBytes() + " bytes");
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
    LOG.log(Level.DEBUG, "a socket was cut", cause);
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
