package dev.parley.http;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.concurrent.TimeoutException;
import org.eclipse.jetty.io.AbstractConnection;
import org.eclipse.jetty.io.Connection;
import org.eclipse.jetty.io.SocketChannelEndPoint;
import org.eclipse.jetty.server.Connector;
import org.eclipse.jetty.server.internal.HttpConnection;
import org.eclipse.jetty.util.Blocker;
import org.eclipse.jetty.util.Callback;
import org.eclipse.jetty.util.IteratingNestedCallback;
import org.jspecify.annotations.Nullable;

/// The connection of a stream that is detached from its request.
///
/// It replaces Jetty's connection while the body of a response is written, so that the objects of
/// the request and its thread are not needed any more: an idle stream is this object and a socket.
/// It writes the chunks of the body itself. At the end, a new connection of Jetty takes over and
/// waits for the next request.
///
/// A write that does not block goes to the socket directly. If the socket accepts only a part, Jetty
/// writes the rest when the socket is writable again. The rest shares the bytes of the frames, so
/// that many slow readers of a large event need no more memory than one.
final class DetachedConnection extends AbstractConnection implements FrameStream.DetachedSink {

  /// The line end of the chunk before, and the last chunk.
  private static final byte[] LAST_CHUNK = "\r\n0\r\n\r\n".getBytes(StandardCharsets.US_ASCII);

  private final Connector connector;
  private final SocketChannelEndPoint endPoint;
  private final SocketChannel channel;
  private final Runnable possiblyDisconnected;
  private final Runnable stopWatching;

  /// True while a write waits for the network.
  private volatile boolean writing;

  DetachedConnection(
      Connector connector,
      SocketChannelEndPoint endPoint,
      Runnable possiblyDisconnected,
      Runnable stopWatching) {
    super(endPoint, connector.getExecutor());
    this.connector = connector;
    this.endPoint = endPoint;
    this.channel = endPoint.getChannel();
    this.possiblyDisconnected = possiblyDisconnected;
    this.stopWatching = stopWatching;
  }

  /// Replaces the connection of a response whose body is being written. Empty if that is not
  /// possible: the connection is encrypted, the body is not written in chunks (HTTP/1.0, or
  /// `Connection: close`), no chunk was written yet, the request is not complete, or bytes after
  /// the request were read from the socket.
  ///
  /// @param possiblyDisconnected is called when the connection is closed
  /// @param stopWatching is called when the stream ends
  static Optional<FrameStream.DetachedSink> detach(
      Connection current, Runnable possiblyDisconnected, Runnable stopWatching) {
    if (!(current instanceof HttpConnection http)
        || !(http.getEndPoint() instanceof SocketChannelEndPoint endPoint)
        || !http.getGenerator().isChunking()
        || http.getGenerator().getContentPrepared() == 0
        || !http.getParser().isComplete()
        || !http.isRequestBufferEmpty()) {
      return Optional.empty();
    }
    var detached =
        new DetachedConnection(http.getConnector(), endPoint, possiblyDisconnected, stopWatching);
    // They count the connections.
    http.getConnector().getEventListeners().forEach(detached::addEventListener);
    endPoint.upgrade(detached);
    return Optional.of(detached);
  }

  @Override
  public WriteResult writeNow(ChunkBuffer chunk, WriteListener listener) {
    int left;
    try {
      left = chunk.writeTo(channel);
    } catch (IOException gone) {
      return WriteResult.FAILED;
    }
    if (left == 0) {
      return WriteResult.DONE;
    }
    beginWrite();
    write(
        chunk.rest(left), Callback.from(() -> ended(listener, true), _ -> ended(listener, false)));
    return WriteResult.LATER;
  }

  private void ended(WriteListener listener, boolean succeeded) {
    writing = false;
    listener.written(succeeded);
  }

  @Override
  public void write(ByteBuffer frames) throws IOException {
    writeBlocking(ChunkBuffer.framing(frames.remaining()), frames);
  }

  private void writeBlocking(ByteBuffer... buffers) throws IOException {
    beginWrite();
    try (var callback = Blocker.callback()) {
      write(buffers, callback);
      callback.block();
    } finally {
      writing = false;
    }
  }

  /// Writes the buffers when the socket is writable.
  private void write(ByteBuffer[] buffers, Callback callback) {
    new PartWriter(buffers, callback).iterate();
  }

  /// The idle timeout of a write begins with the write.
  private void beginWrite() {
    endPoint.notIdle();
    writing = true;
  }

  @Override
  public void finish() throws IOException {
    writeBlocking(ByteBuffer.wrap(LAST_CHUNK));
    stopWatching.run();
    if (connector.isShutdown()) {
      endPoint.close();
    } else {
      endPoint.upgrade(connector.getDefaultConnectionFactory().newConnection(connector, endPoint));
    }
  }

  @Override
  public void abort() {
    stopWatching.run();
    endPoint.close();
  }

  /// Streams have no idle timeout, but a write that makes no progress ends them.
  @Override
  public boolean onIdleExpired(TimeoutException timeout) {
    // The timeout may have expired before the write began.
    return writing && endPoint.getIdleFor() >= endPoint.getIdleTimeout();
  }

  @Override
  public void onClose(@Nullable Throwable cause) {
    super.onClose(cause);
    possiblyDisconnected.run();
  }

  /// Never called, because this connection does not read.
  @Override
  public void onFillable() {}

  /// Writes buffers in parts: the JDK copies each part to a buffer outside the heap, which it
  /// keeps.
  private final class PartWriter extends IteratingNestedCallback {
    private final ByteBuffer[] buffers;

    PartWriter(ByteBuffer[] buffers, Callback callback) {
      super(callback);
      this.buffers = buffers;
    }

    @Override
    protected Action process() {
      var part = new ByteBuffer[buffers.length];
      var room = FrameStream.WRITE_BYTES;
      for (var i = 0; i < part.length; i++) {
        var count = Math.min(room, buffers[i].remaining());
        part[i] = buffers[i].slice(buffers[i].position(), count);
        buffers[i].position(buffers[i].position() + count);
        room -= count;
      }
      if (room == FrameStream.WRITE_BYTES) {
        return Action.SUCCEEDED;
      }
      endPoint.write(this, part);
      return Action.SCHEDULED;
    }
  }
}
