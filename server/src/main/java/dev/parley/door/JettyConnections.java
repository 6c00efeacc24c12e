package dev.parley.door;

import org.eclipse.jetty.http.HttpVersion;
import org.eclipse.jetty.io.Connection;
import org.eclipse.jetty.io.EndPoint;
import org.eclipse.jetty.server.Connector;
import org.eclipse.jetty.server.HttpConfiguration;
import org.eclipse.jetty.server.HttpConnectionFactory;
import org.eclipse.jetty.server.internal.HttpConnection;
import org.jspecify.annotations.Nullable;

/// Makes connections that remember what was asked for where Jetty cannot read that as a URI, and forgets it: an answer in
/// the form of the door it was meant for needs to know.
final class JettyConnections extends HttpConnectionFactory {

  JettyConnections(HttpConfiguration configuration) {
    super(configuration);
  }

  /// What was asked for on the connection of a request that could not be read; null if it could be.
  static @Nullable String unreadable(Connection connection) {
    return connection instanceof Remembering it ? it.unreadable : null;
  }

  @Override
  public Connection newConnection(Connector connector, EndPoint endPoint) {
    var connection = new Remembering(getHttpConfiguration(), connector, endPoint);
    connection.setTransferEncodingChunkMaxLength(getTransferEncodingChunkMaxLength());
    return configure(connection, connector, endPoint);
  }

  private static final class Remembering extends HttpConnection {

    private volatile @Nullable String unreadable;

    Remembering(HttpConfiguration configuration, Connector connector, EndPoint endPoint) {
      super(configuration, connector, endPoint);
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
