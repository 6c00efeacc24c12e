package dev.parley.http;

import dev.parley.runtime.Threads;
import java.io.IOException;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.util.concurrent.TimeoutException;
import org.eclipse.jetty.io.AbstractConnection;
import org.eclipse.jetty.io.AbstractEndPoint;
import org.eclipse.jetty.io.Connection;
import org.eclipse.jetty.server.internal.HttpConnection;
import org.eclipse.jetty.util.Blocker;
import org.jspecify.annotations.Nullable;

/// A client's connection whose bytes go to another server, and whose answers come from there.
///
/// It replaces Jetty's connection after the head of a request, so it works for every request and
/// for all later ones of the connection: bodies, event streams and WebSockets. A virtual thread
/// copies in each direction.
final class TunnelConnection extends AbstractConnection implements Connection.UpgradeTo {

  private static final int BUFFER = 16 * 1024;
  private static final byte[] NOTHING = {};

  private final AbstractEndPoint endPoint;
  private final Socket server;
  private final OpenTunnels open;
  private final long generation;
  private final Threads threads;
  private byte[] received = NOTHING;

  /// True while a write waits for the client.
  private volatile boolean writing;

  private TunnelConnection(
      HttpConnection http, Socket server, OpenTunnels open, long generation, Threads threads) {
    super(http.getEndPoint(), http.getConnector().getExecutor());
    this.endPoint = (AbstractEndPoint) http.getEndPoint();
    this.server = server;
    this.open = open;
    this.generation = generation;
    this.threads = threads;
  }

  /// Connects the client of `current` with `server`, to which the head of the request was sent. From
  /// here on, the tunnel owns both. It is in `open` until it is closed, and belongs to the given
  /// generation there.
  static void open(
      Connection current, Socket server, OpenTunnels open, long generation, Threads threads) {
    if (!(current instanceof HttpConnection http)) {
      throw new IllegalStateException("a connection that is not HTTP/1: " + current);
    }
    var tunnel = new TunnelConnection(http, server, open, generation, threads);
    // They count the connections.
    http.getConnector().getEventListeners().forEach(tunnel::addEventListener);
    http.getEndPoint().upgrade(tunnel);
  }

  /// Takes the bytes that Jetty has read after the head.
  @Override
  public void onUpgradeTo(ByteBuffer buffer) {
    received = new byte[buffer.remaining()];
    buffer.get(received);
  }

  @Override
  public void onOpen() {
    super.onOpen();
    threads.start("tunnel-to-server", this::copyToServer);
    threads.start("tunnel-to-client", this::copyToClient);
    open.add(this, generation);
  }

  private void copyToServer() {
    try {
      var out = server.getOutputStream();
      out.write(received);
      var buffer = ByteBuffer.allocate(BUFFER);
      while (fill(buffer) >= 0) {
        out.write(buffer.array(), buffer.position(), buffer.remaining());
      }
      // The client may still read.
      server.shutdownOutput();
    } catch (IOException gone) {
      end();
    }
  }

  /// Waits for bytes of the client; negative at the end.
  private int fill(ByteBuffer buffer) throws IOException {
    buffer.clear().flip();
    var count = endPoint.fill(buffer);
    while (count == 0) {
      try (var readable = Blocker.callback()) {
        endPoint.fillInterested(readable);
        readable.block();
      }
      count = endPoint.fill(buffer);
    }
    return count;
  }

  private void copyToClient() {
    try {
      var in = server.getInputStream();
      var buffer = new byte[BUFFER];
      for (var count = in.read(buffer); count >= 0; count = in.read(buffer)) {
        write(ByteBuffer.wrap(buffer, 0, count));
      }
    } catch (IOException gone) {
      // One side has ended the connection, or the client does not read.
    } finally {
      end();
    }
  }

  private void write(ByteBuffer bytes) throws IOException {
    endPoint.notIdle();
    writing = true;
    try (var written = Blocker.callback()) {
      endPoint.write(written, bytes);
      written.block();
    } finally {
      writing = false;
    }
  }

  /// Closes both sides.
  void end() {
    try {
      server.close();
    } catch (IOException useless) {
      // It is closed in any case.
    }
    endPoint.close();
  }

  /// A tunnel has no idle timeout: the other server has one. A write that makes no progress ends it.
  @Override
  public boolean onIdleExpired(TimeoutException timeout) {
    return writing && endPoint.getIdleFor() >= endPoint.getIdleTimeout();
  }

  @Override
  public void onClose(@Nullable Throwable cause) {
    super.onClose(cause);
    open.remove(this);
    end();
  }

  /// Never called, because the thread that reads waits by itself.
  @Override
  public void onFillable() {}
}
