package dev.parley.http;

import dev.parley.protocol.Rejection;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.net.BindException;
import java.nio.channels.ServerSocketChannel;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.eclipse.jetty.io.ArrayByteBufferPool;
import org.eclipse.jetty.io.ManagedSelector;
import org.eclipse.jetty.server.HttpConfiguration;
import org.eclipse.jetty.server.NetworkConnectionLimit;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.util.component.LifeCycle;
import org.eclipse.jetty.util.thread.QueuedThreadPool;
import org.eclipse.jetty.util.thread.ScheduledExecutorScheduler;

/// The HTTP listener: one port, all routes, a virtual thread for each request.
///
/// Jetty's platform threads only select sockets. Few buffers and threads are used, so that ten
/// thousand idle streams need little memory.
public final class HttpListener implements AutoCloseable {

  private static final System.Logger LOG = System.getLogger(HttpListener.class.getName());

  private static final int THREADS_MAX = 16;
  private static final int THREADS_MIN = 2;
  private static final int SELECTORS_MAX = 2;
  private static final int BUFFER = 4 * 1024;
  private static final int CONNECTIONS_SPARE = 2_000;
  private static final long POOLED_BYTES_MAX = 8L << 20;
  private static final int ACCEPT_QUEUE = 1024;
  private static final Duration SELECTORS_PATIENCE = Duration.ofSeconds(5);

  /// The dependencies of the listener, besides its routes.
  public record HttpListenerDependencies(
      HttpSettings settings,
      Metrics metrics,
      OpenStreams streams,
      InstantSource clock,
      Supplier<UUID> ids) {}

  private final HttpListenerDependencies httpListenerDependencies;
  private final Server server;
  private final ServerConnector connector;
  private final NetworkConnectionLimit limit;
  private final ApiTokens apiTokens;
  private final DisconnectDetector disconnects = new DisconnectDetector();

  public HttpListener(HttpListenerDependencies httpListenerDependencies, List<Route> routes) {
    this(httpListenerDependencies, routes, List.of());
  }

  /// A listener with APIs that have their own error formats.
  public HttpListener(
      HttpListenerDependencies httpListenerDependencies,
      List<Route> routes,
      List<ErrorFormat> errorForms) {
    this.httpListenerDependencies = httpListenerDependencies;
    var forms = new ErrorFormats(errorForms);
    var all = new ArrayList<>(routes);
    apiTokens = new ApiTokens(httpListenerDependencies.settings().tokens());
    all.addAll(new LoginRoutes(apiTokens).routes());
    all.add(new OpenApi(all, forms).route());
    server = new Server(threads(), new ScheduledExecutorScheduler("parley-timer", true), buffers());
    connector = connector();
    limit =
        new NetworkConnectionLimit(
            httpListenerDependencies.settings().limits().streams() + CONNECTIONS_SPARE, connector);
    server.addConnector(connector);
    server.addBean(limit);
    server.setErrorHandler(new JettyErrorHandler(forms));
    server.setHandler(handler(all, forms));
    server.setStopTimeout(0);
  }

  /// Starts the listener. Returns when it accepts requests.
  ///
  /// @throws Rejection.Unavailable if the address is not available
  public void start() {
    try {
      server.start();
    } catch (
        Exception failed) { // Jetty throws anything here, which is the root of a thread or of main.
      close();
      throw new Rejection.Unavailable(
          "cannot listen on "
              + httpListenerDependencies.settings().host()
              + ":"
              + httpListenerDependencies.settings().port()
              + ": "
              + (failed.getCause() instanceof BindException taken
                  ? taken.getMessage()
                  : failed.getMessage())
              + "; choose another port with --port, or any free port with --port 0");
    }
  }

  /// The port that the listener is bound to.
  public int port() {
    return connector.getLocalPort();
  }

  /// Accepts no more connections, ends all streams, and waits for running requests.
  public void drain(Duration patience) {
    stopAccepting();
    httpListenerDependencies.streams().end();
    try {
      httpListenerDependencies.streams().awaitNone(patience);
      connector.shutdown().get(patience.toMillis(), TimeUnit.MILLISECONDS);
    } catch (InterruptedException told) {
      Thread.currentThread().interrupt();
    } catch (ExecutionException | TimeoutException unfinished) {
      LOG.log(Level.INFO, "some requests did not finish before the shutdown");
    }
  }

  @Override
  public void close() {
    stopAccepting();
    httpListenerDependencies.streams().end();
    try {
      server.stop();
    } catch (Exception failed) { // Jetty throws anything; this is the root of a thread or of main.
      LOG.log(Level.WARNING, "the listener did not stop cleanly", failed);
    }
    disconnects.close();
  }

  /// Stops accepting connections.
  ///
  /// Jetty itself accepts connections while it stops and loses the last ones: it neither serves nor
  /// closes them, and their callers wait. So its selectors, which accept connections, are told to
  /// stop first, and each of them completes a pass before the listener is closed.
  private void stopAccepting() {
    if (!(connector.getTransport() instanceof ServerSocketChannel listener) || !listener.isOpen()) {
      return;
    }
    try {
      LifeCycle.stop(limit);
      connector.setAccepting(false);
      awaitSelectors();
      listener.close();
      // The system closes it when the selectors release it.
      awaitSelectors();
    } catch (InterruptedException told) {
      Thread.currentThread().interrupt();
    } catch (IOException failed) {
      LOG.log(Level.WARNING, "the listener did not close", failed);
    }
  }

  private void awaitSelectors() throws InterruptedException {
    var selectors = connector.getSelectorManager().getBeans(ManagedSelector.class);
    var looked = new CountDownLatch(selectors.size());
    selectors.forEach(selector -> selector.submit(_ -> looked.countDown()));
    if (!looked.await(SELECTORS_PATIENCE.toMillis(), TimeUnit.MILLISECONDS)) {
      LOG.log(Level.WARNING, "a selector did not answer for " + SELECTORS_PATIENCE);
    }
  }

  private static QueuedThreadPool threads() {
    var threads = new QueuedThreadPool(THREADS_MAX, THREADS_MIN);
    threads.setName("parley-http");
    threads.setReservedThreads(0);
    threads.setVirtualThreadsExecutor(
        Executors.newThreadPerTaskExecutor(Thread.ofVirtual().name("request-", 0).factory()));
    return threads;
  }

  private static ArrayByteBufferPool buffers() {
    return new ArrayByteBufferPool(
        0, BUFFER, FramePage.BYTES, -1, POOLED_BYTES_MAX, POOLED_BYTES_MAX);
  }

  private ServerConnector connector() {
    var http = new HttpConfiguration();
    http.setSendServerVersion(false);
    http.setSendDateHeader(true);
    http.setRequestHeaderSize(HttpLimits.HEADER_BYTES);
    http.setInputBufferSize(BUFFER);
    http.setOutputBufferSize(BUFFER);
    http.setOutputAggregationSize(BUFFER);
    http.setHeaderCacheSize(0);
    var selectors = Math.clamp(Runtime.getRuntime().availableProcessors() / 2, 1, SELECTORS_MAX);
    var made =
        new ServerConnector(
            server,
            0,
            selectors,
            new JettyConnectionFactory(
                http, httpListenerDependencies.settings().limits().headerTime()));
    var httpSettings = httpListenerDependencies.settings();
    made.setHost(httpSettings.host());
    made.setPort(httpSettings.port());
    made.setAcceptQueueSize(ACCEPT_QUEUE);
    made.setIdleTimeout(httpSettings.limits().stall().toMillis());
    return made;
  }

  private JettyHandler handler(List<Route> routes, ErrorFormats forms) {
    var httpSettings = httpListenerDependencies.settings();
    var hosts = new HashSet<>(httpSettings.allowedHosts());
    hosts.add(httpSettings.host());
    return new JettyHandler(
        new Router(routes),
        new JettyHandler.JettyHandlerDependencies(
            new HostCheck(hosts, httpSettings.allowedOrigins()),
            apiTokens,
            httpListenerDependencies.metrics(),
            httpSettings.limits(),
            disconnects,
            forms,
            new WebSocketUpgrader(
                server, httpListenerDependencies.streams(), httpSettings.limits()),
            httpListenerDependencies.clock(),
            httpListenerDependencies.ids()));
  }
}
