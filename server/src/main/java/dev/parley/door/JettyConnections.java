package dev.parley.door;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.eclipse.jetty.http.HttpVersion;
import org.eclipse.jetty.io.Connection;
import org.eclipse.jetty.io.EndPoint;
import org.eclipse.jetty.server.Connector;
import org.eclipse.jetty.server.HttpConfiguration;
import org.eclipse.jetty.server.HttpConnectionFactory;
import org.eclipse.jetty.server.internal.HttpConnection;
import org.jspecify.annotations.Nullable;

/// Makes connections with two additions to what Jetty does.
///
/// They remember the target of a request that Jetty cannot read as a URI, because the error must be written
/// in the form of the API that was meant. And they close when the headers of a request take too long:
/// Jetty's idle timeout begins again with every byte.
final class JettyConnections extends HttpConnectionFactory {

  private final Duration headerTime;

  JettyConnections(HttpConfiguration configuration, Duration headerTime) {
    super(configuration);
    this.headerTime = headerTime;
  }

  /// What was asked for on the connection of a request that could not be read; null if it could be.
  static @Nullable String unreadable(Connection connection) {
    return connection instanceof Remembering it ? it.unreadable : null;
  }

  @Override
  public Connection newConnection(Connector connector, EndPoint endPoint) {
    var connection = new Remembering(getHttpConfiguration(), connector, endPoint, headerTime);
    connection.setTransferEncodingChunkMaxLength(getTransferEncodingChunkMaxLength());
    return configure(connection, connector, endPoint);
  }

  private static final class Remembering extends HttpConnection {

    private final Duration headerTime;
    private volatile @Nullable String unreadable;
    // How many requests had come before the one whose headers are timed. For the connection's
    // thread.
    private long timedAfter = -1;

    Remembering(
        HttpConfiguration configuration,
        Connector connector,
        EndPoint endPoint,
        Duration headerTime) {
      super(configuration, connector, endPoint);
      this.headerTime = headerTime;
    }

    @Override
    public void onFillable() {
      super.onFillable();
      var before = getMessagesIn();
      if (readingHeaders() && timedAfter != before) {
        timedAfter = before;
        getConnector()
            .getScheduler()
            .schedule(
                () -> {
                  if (readingHeaders() && getMessagesIn() == before) {
                    getEndPoint().close();
                  }
                },
                headerTime.toMillis(),
                TimeUnit.MILLISECONDS);
      }
    }

    /// True if some of a request's headers have come and not all.
    private boolean readingHeaders() {
      var parser = getParser();
      return parser.inHeaderState() && !parser.isStart();
    }

    @Override
    protected HttpStreamOverHTTP1 newHttpStream(String method, String uri, HttpVersion version) {
      try {
        return super.newHttpStream(method, uri, version);
      } catch (IllegalArgumentException malformed) {
        // The connection ends with the answer to this, so it is never another request's.
        unreadable = uri;
        throw malformed;
      }
    }
  }
}
