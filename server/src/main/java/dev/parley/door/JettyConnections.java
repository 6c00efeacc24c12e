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
    // The number of requests before the one whose headers are timed. For the connection's thread.
    private long timedAfter = -1;

    Remembering(
        HttpConfiguration configuration,
        Connector connector,
        EndPoint endPoint,
        Duration headerTime) {
      super(configuration, connector, endPoint);
      this.headerTime = headerTime;
    }

    /// Starts the time for the headers with the first byte after the last request, even if it belongs to one of
    /// the empty lines that may come before a request line and that the parser skips.
    @Override
    public void onFillable() {
      var before = getMessagesIn();
      var bytesBefore = getBytesIn();
      super.onFillable();
      var after = getMessagesIn();
      var begun = !getParser().isStart() || (after == before && getBytesIn() > bytesBefore);
      if (begun && awaitsHeaders(after) && timedAfter != after) {
        timedAfter = after;
        getConnector()
            .getScheduler()
            .schedule(
                () -> {
                  if (awaitsHeaders(after)) {
                    getEndPoint().close();
                  }
                },
                headerTime.toMillis(),
                TimeUnit.MILLISECONDS);
      }
    }

    /// True if the headers of the request after so many others have not all come.
    private boolean awaitsHeaders(long requests) {
      return getParser().inHeaderState() && getMessagesIn() == requests;
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
