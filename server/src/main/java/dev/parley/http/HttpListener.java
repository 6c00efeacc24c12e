package dev.parley.http;

import dev.parley.audit.AuditTrail;
import dev.parley.identity.AccessPolicy;
import dev.parley.identity.IssuedCredentials;
import dev.parley.identity.Revocations;
import dev.parley.identity.SharedContexts;
import dev.parley.protocol.Json;
import dev.parley.protocol.Rejection;
import dev.parley.runtime.Threads;
import dev.parley.runtime.Time;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.net.BindException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.time.Duration;
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
import org.eclipse.jetty.http.HttpException;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.io.ArrayByteBufferPool;
import org.eclipse.jetty.io.EndPoint;
import org.eclipse.jetty.io.ManagedSelector;
import org.eclipse.jetty.server.ConnectionFactory;
import org.eclipse.jetty.server.HttpConfiguration;
import org.eclipse.jetty.server.NetworkConnectionLimit;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.server.handler.ErrorHandler;
import org.eclipse.jetty.util.Callback;
import org.eclipse.jetty.util.component.LifeCycle;
import org.eclipse.jetty.util.thread.QueuedThreadPool;
import org.eclipse.jetty.util.thread.ScheduledExecutorScheduler;
import org.eclipse.jetty.websocket.core.WebSocketComponents;
import org.eclipse.jetty.websocket.core.server.WebSocketServerComponents;
import org.jspecify.annotations.Nullable;

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
      ApiTokens tokens,
      AccessPolicy accessPolicy,
      AuditTrail audit,
      Metrics metrics,
      OpenStreams streams,
      Time time,
      Threads threads,
      Supplier<UUID> ids) {

    /// The dependencies of a listener that knows only the tokens of its settings. If there are none
    /// although a credential is required, it rejects all callers.
    public HttpListenerDependencies(
        HttpSettings settings,
        Metrics metrics,
        OpenStreams streams,
        Time time,
        Threads threads,
        Supplier<UUID> ids) {
      this(
          settings,
          new ApiTokens(
              settings.tokens(), settings.loginRequired(), IssuedCredentials.none(), time),
          new AccessPolicy(SharedContexts.NONE),
          AuditTrail.disabled(time, threads),
          metrics,
          streams,
          time,
          threads,
          ids);
    }
  }

  private final HttpListenerDependencies initial;
  private final Server server;
  private final ServerConnector connector;
  private final NetworkConnectionLimit limit;
  private final DisconnectDetector disconnects;
  private final AddressLimits addresses;

  private final HandlerSwitch handlers = new HandlerSwitch();
  private final JettyErrorHandler errors = new JettyErrorHandler();
  private final OpenTunnels tunnels = new OpenTunnels();
  private final CallerConnections callers = new CallerConnections();
  private final WebSocketComponents webSockets;
  private volatile Revocations.Registration revoked = () -> {};
  // What the listener serves now.
  private volatile HttpListenerDependencies dependencies;

  /// How this listener forwards requests to the active server of a cluster, and verifies what other
  /// servers forward.
  public record Forwarding(ServerLocation location, ForwardedClient forwardedClient) {}

  public HttpListener(HttpListenerDependencies dependencies, List<Route> routes) {
    this(dependencies, routes, List.of());
  }

  /// A listener with APIs that have their own error formats.
  public HttpListener(
      HttpListenerDependencies dependencies, List<Route> routes, List<ErrorFormat> errorForms) {
    this(dependencies);
    serve(dependencies, routes, errorForms, null);
  }

  /// A listener that forwards requests until [#serve] is called.
  public HttpListener(HttpListenerDependencies dependencies, Forwarding forwards, List<Route> own) {
    this(dependencies);
    forward(dependencies, forwards, own);
  }

  private HttpListener(HttpListenerDependencies dependencies) {
    this.initial = dependencies;
    this.dependencies = dependencies;
    var settings = dependencies.settings();
    addresses =
        new AddressLimits(settings.limits(), settings.edge().proxies(), dependencies.time());
    var certificate =
        settings.edge().tls() == null
            ? null
            : new CertificateFiles(settings.edge().tls(), dependencies.time());
    disconnects = new DisconnectDetector(dependencies.threads());
    server =
        new Server(
            threads(dependencies.threads()),
            new ScheduledExecutorScheduler("parley-timer", true),
            buffers());
    connector = connector(certificate);
    limit =
        new NetworkConnectionLimit(
            dependencies.settings().limits().streams() + CONNECTIONS_SPARE, connector);
    server.addConnector(connector);
    server.addBean(limit);
    server.setErrorHandler(errors);
    server.setHandler(handlers);
    server.setStopTimeout(0);
    webSockets = WebSocketServerComponents.ensureWebSocketComponents(server);
  }

  /// Serves these routes from now on, with these metrics and streams. `forwards` is null if there is
  /// no cluster.
  public void serve(
      HttpListenerDependencies serving,
      List<Route> routes,
      List<ErrorFormat> errorForms,
      @Nullable Forwarding forwards) {
    var forms = List.copyOf(errorForms);
    var all = new ArrayList<>(routes);
    all.addAll(new LoginRoutes(serving.tokens()).routes());
    all.add(new OpenApi(all, forms).route());
    dependencies = serving;
    revoked.close();
    revoked = serving.tokens().revocations().listen(callers::end);
    errors.forms = forms;
    var routing = handler(serving, all, forms, forwards);
    handlers.current =
        forwards == null
            ? routing
            : new ActiveHandler(
                forwards.location(), routing, forwardingHandler(serving, forwards, routing));
    tunnels.closeAll();
  }

  /// Forwards all requests from now on, except those to `own`. Ends the streams that were served
  /// until now.
  public void forward(HttpListenerDependencies serving, Forwarding forwards, List<Route> own) {
    var before = dependencies;
    dependencies = serving;
    errors.forms = List.of();
    handlers.current =
        forwardingHandler(serving, forwards, handler(serving, own, List.of(), forwards));
    if (before.streams() != serving.streams()) {
      before.streams().end();
    }
  }

  /// The number of client connections that are forwarded to the active server now.
  public int forwardedConnections() {
    return tunnels.count();
  }

  private ForwardingHandler forwardingHandler(
      HttpListenerDependencies serving, Forwarding forwards, RequestHandler own) {
    return new ForwardingHandler(
        new ForwardingHandler.ForwardingDependencies(
            forwards.location(),
            forwards.forwardedClient(),
            own,
            () -> handlers.current,
            tunnels,
            disconnects,
            serving.time(),
            serving.threads()));
  }

  /// Closes the connections that are forwarded, because another server is active now.
  public void closeForwarded() {
    tunnels.closeAll();
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
      var reason = failed.getCause() instanceof BindException taken ? taken : failed;
      throw unavailable(dependencies.settings(), reason);
    }
  }

  /// Checks that a listener with these settings could start now.
  ///
  /// @throws Rejection.Unavailable if the address is not available
  public static void checkAddress(HttpSettings settings) {
    try (var socket = new ServerSocket()) {
      socket.setReuseAddress(true);
      socket.bind(new InetSocketAddress(settings.host(), settings.port()));
    } catch (IOException taken) {
      throw unavailable(settings, taken);
    }
  }

  private static Rejection.Unavailable unavailable(HttpSettings settings, Exception reason) {
    return new Rejection.Unavailable(
        "cannot listen on %s:%d: %s; choose another port with --port, or any free port with --port 0"
            .formatted(settings.host(), settings.port(), reason.getMessage()));
  }

  /// The port that the listener is bound to.
  public int port() {
    return connector.getLocalPort();
  }

  /// Accepts no more connections, ends all streams, and waits for running requests.
  public void drain(Duration patience) {
    stopAccepting();
    dependencies.streams().end();
    try {
      dependencies.streams().awaitCount(0, patience);
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
    dependencies.streams().end();
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

  private static QueuedThreadPool threads(Threads requests) {
    var threads = new QueuedThreadPool(THREADS_MAX, THREADS_MIN);
    threads.setName("parley-http");
    threads.setReservedThreads(0);
    threads.setVirtualThreadsExecutor(
        Executors.newThreadPerTaskExecutor(requests.factory("request-")));
    return threads;
  }

  private static ArrayByteBufferPool buffers() {
    return new ArrayByteBufferPool(
        0, BUFFER, FrameStream.WRITE_BYTES, -1, POOLED_BYTES_MAX, POOLED_BYTES_MAX);
  }

  private ServerConnector connector(@Nullable CertificateFiles certificate) {
    var http = new HttpConfiguration();
    http.setSendServerVersion(false);
    http.setSendDateHeader(true);
    http.setRequestHeaderSize(HttpLimits.HEADER_BYTES);
    http.setInputBufferSize(BUFFER);
    http.setOutputBufferSize(BUFFER);
    http.setOutputAggregationSize(BUFFER);
    http.setHeaderCacheSize(0);
    var httpSettings = initial.settings();
    var headerTime = httpSettings.limits().headerTime();
    var connections = new ArrayList<ConnectionFactory>();
    if (certificate != null) {
      connections.add(new TlsConnectionFactory(certificate.context(), headerTime));
    }
    connections.add(new JettyConnectionFactory(http, headerTime));
    var made = new LimitedConnector(server, addresses, connections);
    made.setHost(httpSettings.host());
    made.setPort(httpSettings.port());
    made.setAcceptQueueSize(ACCEPT_QUEUE);
    made.setIdleTimeout(httpSettings.limits().stall().toMillis());
    return made;
  }

  /// Closes the connections of addresses that have too many.
  private static final class LimitedConnector extends ServerConnector {

    private final AddressLimits addresses;

    LimitedConnector(Server server, AddressLimits addresses, List<ConnectionFactory> connections) {
      super(
          server,
          0,
          Math.clamp(Runtime.getRuntime().availableProcessors() / 2, 1, SELECTORS_MAX),
          connections.toArray(ConnectionFactory[]::new));
      this.addresses = addresses;
    }

    @Override
    protected void onEndPointOpened(EndPoint endPoint) {
      super.onEndPointOpened(endPoint);
      if (!addresses.open(endPoint)) {
        endPoint.close();
      }
    }

    @Override
    protected void onEndPointClosed(EndPoint endPoint) {
      super.onEndPointClosed(endPoint);
      addresses.release(endPoint);
    }
  }

  private JettyHandler handler(
      HttpListenerDependencies serving,
      List<Route> routes,
      List<ErrorFormat> forms,
      @Nullable Forwarding forwards) {
    var httpSettings = serving.settings();
    var hosts = new HashSet<>(httpSettings.allowedHosts());
    hosts.add(httpSettings.host());
    return new JettyHandler(
        new Router(routes),
        new JettyHandler.JettyHandlerDependencies(
            new HostCheck(hosts, httpSettings.allowedOrigins()),
            serving.tokens(),
            serving.accessPolicy(),
            callers,
            serving.metrics(),
            httpSettings.limits(),
            httpSettings.edge(),
            addresses,
            new RequestAudit(serving.audit()),
            disconnects,
            forms,
            forwards == null ? null : forwards.forwardedClient(),
            new WebSocketUpgrader(
                webSockets,
                new JettyWebSocket.JettyWebSocketDependencies(
                    serving.streams(), httpSettings.limits(), serving.time(), serving.threads())),
            serving.time(),
            serving.ids()));
  }

  /// Passes requests to a handler that can be replaced while the listener runs.
  private static final class HandlerSwitch extends RequestHandler {

    private volatile RequestHandler current = this;

    @Override
    public boolean handle(Request request, Response response, Callback callback)
        throws InterruptedException {
      return current.handle(request, response, callback);
    }
  }

  /// Writes errors that Jetty itself detects (a malformed request line, too large headers) as problem
  /// documents.
  private static final class JettyErrorHandler extends ErrorHandler {

    private volatile List<ErrorFormat> forms = List.of();

    @Override
    public boolean handle(Request request, Response response, Callback callback) {
      var cause = request.getAttribute(ERROR_EXCEPTION);
      var status = cause instanceof HttpException http ? http.getCode() : response.getStatus();
      var problem =
          cause instanceof HttpException http && String.valueOf(http.getReason()).contains("URI")
              ? Problem.of(400, "invalid-uri", "the URI is not well formed")
              : problem(status);
      response.setStatus(problem.status());
      var form = ErrorFormat.of(forms, path(request));
      response.getHeaders().put(HttpHeader.CONTENT_TYPE, form.contentType());
      response.getHeaders().put(HttpHeader.CACHE_CONTROL, "no-store");
      response.write(true, ByteBuffer.wrap(Json.bytes(form.body().apply(problem))), callback);
      return true;
    }

    private static @Nullable String path(Request request) {
      var unreadable =
          JettyConnectionFactory.unreadable(request.getConnectionMetaData().getConnection());
      var uri = request.getHttpURI();
      return unreadable != null || uri == null ? unreadable : uri.getPath();
    }

    private static Problem problem(int status) {
      return switch (status) {
        case 408 -> Problem.of(408, "request-timeout", "the request did not arrive in time");
        case 413 -> Problem.of(413, "body-too-large", "the body is too large");
        case 414 -> Problem.of(414, "uri-too-long", "the URI is too long");
        case 417 -> Problem.of(417, "expectation-failed", "the expectation cannot be met");
        case 431 -> Problem.of(431, "headers-too-large", "the headers are too large");
        default ->
            status >= 400 && status < 500
                ? Problem.of(status, "bad-request", "this is not a well-formed HTTP request")
                : Problem.of(500, "internal", "the server failed to answer");
      };
    }
  }
}
