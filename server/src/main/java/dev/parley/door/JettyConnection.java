package dev.parley.door;

import java.io.IOException;
import java.nio.channels.SocketChannel;
import java.util.concurrent.CompletionException;
import org.eclipse.jetty.http.HttpFields;
import org.eclipse.jetty.http.HttpStatus;
import org.eclipse.jetty.http.HttpVersion;
import org.eclipse.jetty.server.Response;

/// A connection on which a request waits for its answer, watched for its caller's hanging up.
final class JettyConnection implements OnHold.Connection {

  private final Response response;
  private final HangUps hangUps;

  JettyConnection(Response response, HangUps hangUps) {
    this.response = response;
    this.hangUps = hangUps;
  }

  /// Callers who speak HTTP/1.0 know of no answer before the answer, and cannot be asked whether they are there.
  @Override
  public Runnable watch(Runnable doubt) {
    var version = response.getRequest().getConnectionMetaData().getHttpVersion();
    return version == HttpVersion.HTTP_1_0 ? () -> {} : watch(response, hangUps, doubt);
  }

  /// The same for whoever writes to a connection anyway.
  static Runnable watch(Response response, HangUps hangUps, Runnable doubt) {
    var connection = response.getRequest().getConnectionMetaData().getConnection();
    return connection.getEndPoint().getTransport() instanceof SocketChannel channel
        ? hangUps.watch(channel, doubt)
        : () -> {};
  }

  @Override
  public void beat() throws IOException {
    try {
      response.writeInterim(HttpStatus.PROCESSING_102, HttpFields.EMPTY).join();
    } catch (CompletionException failed) {
      throw new IOException("the caller has hung up", failed.getCause());
    }
  }
}
