package dev.parley.http;

import java.io.IOException;
import java.nio.channels.SocketChannel;
import java.util.concurrent.CompletionException;
import org.eclipse.jetty.http.HttpFields;
import org.eclipse.jetty.http.HttpStatus;
import org.eclipse.jetty.http.HttpVersion;
import org.eclipse.jetty.io.EndPoint;
import org.eclipse.jetty.server.Response;

/// A request whose reply takes long, and whose caller may disconnect meanwhile. For one thread.
///
/// It counts as a stream: it lasts as long as one, and ends when all streams end.
public final class BlockingCall implements AutoCloseable {

  private final JettyConnection connection;
  private final OpenStreams.StreamSlot streamSlot;
  private final Runnable stopWatching;

  BlockingCall(JettyConnection connection, OpenStreams openStreams) {
    this.connection = connection;
    this.streamSlot = openStreams.open();
    this.stopWatching = connection.watch(streamSlot::requestProbe);
  }

  /// True once the caller has disconnected, or the server stops.
  public boolean ended() {
    return streamSlot.ended();
  }

  /// Returns the result of `wait`; false if it was interrupted, for example by a disconnect.
  public boolean await(OpenStreams.InterruptibleWait interruptibleWait) {
    var came = streamSlot.await(interruptibleWait);
    try {
      streamSlot.probe(connection::sendInterim);
    } catch (IOException hungUp) {
      streamSlot.end();
    }
    return came;
  }

  @Override
  public void close() {
    stopWatching.run();
    streamSlot.close();
  }

  /// The connection of a blocking request, watched for a disconnect of its caller.
  static final class JettyConnection {

    private final Response response;
    private final DisconnectDetector disconnects;

    JettyConnection(Response response, DisconnectDetector disconnects) {
      this.response = response;
      this.disconnects = disconnects;
    }

    /// Registers `possiblyDisconnected`, which is called once, by another thread, if the caller may
    /// have disconnected. Two interim responses then show whether it has. The returned action stops
    /// watching. HTTP/1.0 has no interim responses, so those callers cannot be probed.
    Runnable watch(Runnable possiblyDisconnected) {
      var version = response.getRequest().getConnectionMetaData().getHttpVersion();
      return version == HttpVersion.HTTP_1_0
          ? () -> {}
          : watch(response, disconnects, possiblyDisconnected);
    }

    /// The same for streams, which write to the connection anyway.
    static Runnable watch(
        Response response, DisconnectDetector disconnects, Runnable possiblyDisconnected) {
      var connection = response.getRequest().getConnectionMetaData().getConnection();
      var endPoint = connection.getEndPoint();
      var socket = endPoint instanceof EndPoint.Wrapper tls ? tls.unwrap() : endPoint;
      return socket.getTransport() instanceof SocketChannel channel
          ? disconnects.watch(channel, possiblyDisconnected)
          : () -> {};
    }

    /// Sends an interim response.
    ///
    /// @throws IOException if the caller has disconnected
    void sendInterim() throws IOException {
      try {
        response.writeInterim(HttpStatus.PROCESSING_102, HttpFields.EMPTY).join();
      } catch (CompletionException failed) {
        throw new IOException("the caller has disconnected", failed.getCause());
      }
    }
  }
}
