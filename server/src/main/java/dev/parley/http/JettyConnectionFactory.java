package dev.parley.http;

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

/// Creates connections with two additions to Jetty's.
///
/// They keep the target of a request that Jetty cannot parse as a URI, because the error must have
/// the format of the requested API. And they close when the headers of a request take too long:
/// Jetty's idle timeout restarts with every byte.
final class JettyConnectionFactory extends HttpConnectionFactory {

  private final Duration headerTime;

  JettyConnectionFactory(HttpConfiguration configuration, Duration headerTime) {
    super(configuration);
    this.headerTime = headerTime;
  }

  /// The target of the connection's request that could not be parsed; null if there is none.
  static @Nullable String unreadable(Connection connection) {
    return connection instanceof LimitedConnection it ? it.unreadable : null;
  }

  @Override
  public Connection newConnection(Connector connector, EndPoint endPoint) {
    var connection = new LimitedConnection(getHttpConfiguration(), connector, endPoint, headerTime);
    connection.setTransferEncodingChunkMaxLength(getTransferEncodingChunkMaxLength());
    return configure(connection, connector, endPoint);
  }

  private static final class LimitedConnection extends HttpConnection {

    private final Duration headerTime;
    private volatile @Nullable String unreadable;
    // The number of requests before the one whose headers are timed. For the connection's thread.
    private long timedAfter = -1;

    LimitedConnection(
        HttpConfiguration configuration,
        Connector connector,
        EndPoint endPoint,
        Duration headerTime) {
      super(configuration, connector, endPoint);
      this.headerTime = headerTime;
    }

    /// Starts the time limit for the headers with the first byte after the last request, even if it
    /// belongs to an empty line before the request line, which the parser skips.
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

    /// True if the headers of the request that follows `requests` others are incomplete.
    private boolean awaitsHeaders(long requests) {
      return getParser().inHeaderState() && getMessagesIn() == requests;
    }

    @Override
    protected HttpStreamOverHTTP1 newHttpStream(String method, String uri, HttpVersion version) {
      try {
        return super.newHttpStream(method, uri, version);
      } catch (IllegalArgumentException malformed) {
        // The connection ends with this reply, so the value never belongs to another request.
        unreadable = uri;
        throw malformed;
      }
    }
  }
}
