package dev.parley.http;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import org.eclipse.jetty.http.HttpVersion;
import org.eclipse.jetty.io.EndPoint;
import org.eclipse.jetty.io.ssl.SslConnection;
import org.eclipse.jetty.io.ssl.SslHandshakeListener;
import org.eclipse.jetty.server.Connector;
import org.eclipse.jetty.server.SslConnectionFactory;
import org.eclipse.jetty.util.ssl.SslContextFactory;
import org.eclipse.jetty.util.thread.Scheduler;

/// Creates TLS connections that carry HTTP/1.1. A handshake that takes too long ends its connection:
/// Jetty's idle timeout restarts with every byte.
final class TlsConnectionFactory extends SslConnectionFactory {

  private final Duration handshakeTime;

  TlsConnectionFactory(SSLContext context, Duration handshakeTime) {
    super(contexts(context), HttpVersion.HTTP_1_1.asString());
    this.handshakeTime = handshakeTime;
    // It compares the host of a request with the certificate. HostCheck compares it with the
    // configuration, which also allows addresses.
    setEnsureSecureRequestCustomizer(false);
  }

  private static SslContextFactory.Server contexts(SSLContext context) {
    var contexts = new SslContextFactory.Server();
    contexts.setSslContext(context);
    contexts.setIncludeProtocols("TLSv1.3", "TLSv1.2");
    contexts.setRenegotiationAllowed(false);
    return contexts;
  }

  @Override
  protected SslConnection newSslConnection(
      Connector connector, EndPoint endPoint, SSLEngine engine) {
    var connection = super.newSslConnection(connector, endPoint, engine);
    var deadline =
        connector
            .getScheduler()
            .schedule(endPoint::close, handshakeTime.toMillis(), TimeUnit.MILLISECONDS);
    connection.addHandshakeListener(new HandshakeListener(deadline));
    return connection;
  }

  private record HandshakeListener(Scheduler.Task deadline) implements SslHandshakeListener {
    @Override
    public void handshakeSucceeded(Event event) {
      deadline.cancel();
    }

    @Override
    public void handshakeFailed(Event event, Throwable failure) {
      deadline.cancel();
    }
  }
}
