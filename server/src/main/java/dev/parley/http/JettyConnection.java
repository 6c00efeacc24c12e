package dev.parley.http;

import java.io.IOException;
import java.nio.channels.SocketChannel;
import java.util.concurrent.CompletionException;
import org.eclipse.jetty.http.HttpFields;
import org.eclipse.jetty.http.HttpStatus;
import org.eclipse.jetty.http.HttpVersion;
import org.eclipse.jetty.server.Response;

/// The connection of a blocking request, watched for a disconnect of its caller.
final class JettyConnection implements BlockingCall.CallerConnection {

  private final Response response;
  private final DisconnectDetector disconnects;

  JettyConnection(Response response, DisconnectDetector disconnectDetector) {
    this.response = response;
    this.disconnects = disconnectDetector;
  }

  /// HTTP/1.0 has no interim responses, so those callers cannot be probed.
  @Override
  public Runnable watch(Runnable doubt) {
    var version = response.getRequest().getConnectionMetaData().getHttpVersion();
    return version == HttpVersion.HTTP_1_0 ? () -> {} : watch(response, disconnects, doubt);
  }

  /// The same for streams, which write to the connection anyway.
  static Runnable watch(Response response, DisconnectDetector disconnectDetector, Runnable doubt) {
    var connection = response.getRequest().getConnectionMetaData().getConnection();
    return connection.getEndPoint().getTransport() instanceof SocketChannel channel
        ? disconnectDetector.watch(channel, doubt)
        : () -> {};
  }

  @Override
  public void sendInterim() throws IOException {
    try {
      response.writeInterim(HttpStatus.PROCESSING_102, HttpFields.EMPTY).join();
    } catch (CompletionException failed) {
      throw new IOException("the caller has disconnected", failed.getCause());
    }
  }
}
