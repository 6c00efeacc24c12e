package dev.parley.mcp;

import io.modelcontextprotocol.client.McpAsyncClient;
import io.modelcontextprotocol.json.TypeRef;
import io.modelcontextprotocol.spec.McpClientTransport;
import io.modelcontextprotocol.spec.McpSchema;
import io.modelcontextprotocol.spec.McpSchema.JSONRPCMessage;
import io.modelcontextprotocol.spec.McpSchema.JSONRPCNotification;
import io.modelcontextprotocol.spec.McpSchema.JSONRPCRequest;
import io.modelcontextprotocol.spec.McpSchema.JSONRPCResponse;
import io.modelcontextprotocol.spec.McpTransportException;
import io.modelcontextprotocol.spec.ProtocolVersions;
import java.io.IOException;
import java.io.InputStream;
import java.lang.System.Logger.Level;
import java.net.http.HttpClient;
import java.net.http.HttpClient.Redirect;
import java.net.http.HttpHeaders;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.util.context.Context;
import reactor.util.context.ContextView;

/// A transport over streamable HTTP. Safe for many threads.
///
/// The transport of the SDK cannot use an address without a path, loses a response whose stream
/// ends early (SEP-1699), and can report a missing GET stream instead of the required sign-in. Each
/// request has its own virtual thread.
final class HttpTransport implements McpClientTransport {

  private static final System.Logger LOG = System.getLogger(HttpTransport.class.getName());
  private static final Duration CONNECT = Duration.ofSeconds(10);
  private static final Duration END_SESSION_TIMEOUT = Duration.ofSeconds(2);
  private static final Duration PAUSE_MAX = Duration.ofMinutes(1);
  private static final int RESUMES_MAX = 5;
  private static final int SHOWN = 200;
  private static final String SESSION = "Mcp-Session-Id";
  private static final String EVENTS = "text/event-stream";
  private static final int OK = 200;

  /// The server responded with an error status; `known` if the request contained a session id.
  static final class StatusException extends McpTransportException {
    private static final long serialVersionUID = 1L;
    private final int code;
    private final boolean known;
    private final transient HttpHeaders headers;

    StatusException(HttpResponse<?> answer, boolean known, String text) {
      super("it answered with status " + answer.statusCode() + (text.isEmpty() ? "" : ": " + text));
      this.code = answer.statusCode();
      this.known = known;
      this.headers = answer.headers();
    }

    int code() {
      return code;
    }

    HttpHeaders headers() {
      return headers;
    }

    /// True if the server no longer knows the session. Some servers respond with 400 in this case.
    boolean isSessionLost() {
      return known && (code == 404 || code == 400);
    }
  }

  private final McpServer.HttpEndpoint server;
  private final Supplier<Optional<String>> bearer;
  private final HttpClient http =
      HttpClient.newBuilder().connectTimeout(CONNECT).followRedirects(Redirect.NEVER).build();
  private final Set<Thread> workers = ConcurrentHashMap.newKeySet();
  private final AtomicBoolean listens = new AtomicBoolean();
  private volatile Function<Mono<JSONRPCMessage>, Mono<JSONRPCMessage>> handler =
      message -> message;
  private volatile Consumer<Throwable> exceptionHandler = _ -> {};
  private volatile @Nullable String session;
  private volatile boolean closed;

  /// @param bearer supplies the current token for each request, if there is one
  HttpTransport(McpServer.HttpEndpoint server, Supplier<Optional<String>> bearer) {
    this.server = server;
    this.bearer = bearer;
  }

  @Override
  public List<String> protocolVersions() {
    return List.of(
        ProtocolVersions.MCP_2025_03_26,
        ProtocolVersions.MCP_2025_06_18,
        ProtocolVersions.MCP_2025_11_25);
  }

  @Override
  public Mono<Void> connect(Function<Mono<JSONRPCMessage>, Mono<JSONRPCMessage>> incoming) {
    return Mono.fromRunnable(() -> handler = incoming);
  }

  @Override
  public void setExceptionHandler(Consumer<Throwable> told) {
    exceptionHandler = told;
  }

  @Override
  public <T> T unmarshalFrom(Object data, TypeRef<T> type) {
    return McpChannel.JSON.convertValue(data, type);
  }

  /// Completes when the whole response has been read. Canceling it cancels the request.
  @Override
  public Mono<Void> sendMessage(JSONRPCMessage message) {
    return Mono.deferContextual(
        around ->
            Mono.create(
                sink -> {
                  var worker =
                      work(
                          "mcp-send",
                          () -> {
                            try {
                              post(message, around);
                              sink.success();
                            } catch (InterruptedException stopped) {
                              sink.error(new McpTransportException("the request was canceled"));
                            } catch (IOException | RuntimeException failed) {
                              sink.error(failed);
                            }
                          });
                  sink.onCancel(worker::interrupt);
                }));
  }

  @Override
  public Mono<Void> closeGracefully() {
    return Mono.fromRunnable(
        () -> {
          closed = true;
          endSession();
          workers.forEach(Thread::interrupt);
          http.shutdownNow();
        });
  }

  private Thread work(String name, Runnable work) {
    var thread =
        Thread.ofVirtual()
            .name(name)
            .unstarted(
                () -> {
                  try {
                    work.run();
                  } finally {
                    workers.remove(Thread.currentThread());
                  }
                });
    workers.add(thread);
    thread.start();
    return thread;
  }

  private void post(JSONRPCMessage message, ContextView around)
      throws IOException, InterruptedException {
    var known = session;
    var request =
        request(around)
            .header("Content-Type", "application/json")
            .header("Accept", "application/json, " + EVENTS)
            .POST(BodyPublishers.ofByteArray(McpChannel.JSON.writeValueAsBytes(message)));
    var answer = http.send(request.build(), BodyHandlers.ofInputStream());
    try (var body = answer.body()) {
      check(answer, known != null);
      answer.headers().firstValue(SESSION).ifPresent(id -> session = id);
      if (message instanceof JSONRPCNotification told
          && told.method().equals(McpSchema.METHOD_NOTIFICATION_INITIALIZED)) {
        listen(around);
      }
      if (isEvents(answer)) {
        follow(body, message instanceof JSONRPCRequest asked ? asked.id() : null, around);
      } else if (message instanceof JSONRPCRequest) {
        deliver(readAll(body), around);
      }
    }
  }

  private HttpRequest.Builder request(ContextView around) {
    var request = HttpRequest.newBuilder(server.url());
    server.headers().forEach(request::setHeader);
    bearer.get().ifPresent(token -> request.setHeader("Authorization", "Bearer " + token));
    var known = session;
    if (known != null) {
      request.setHeader(SESSION, known);
      around
          .<String>getOrEmpty(McpAsyncClient.NEGOTIATED_PROTOCOL_VERSION)
          .ifPresent(version -> request.setHeader("MCP-Protocol-Version", version));
    }
    return request;
  }

  private static void check(HttpResponse<InputStream> answer, boolean known) throws IOException {
    if (answer.statusCode() / 100 != 2) {
      var text = new String(answer.body().readNBytes(SHOWN), StandardCharsets.UTF_8).strip();
      throw new StatusException(answer, known, text);
    }
  }

  /// The server has accepted the request, and may have executed it. So no status may be treated
  /// here as if nothing had been done and the request could be sent again.
  private static void checkResumed(HttpResponse<InputStream> answer) throws IOException {
    try {
      check(answer, false);
    } catch (StatusException refused) {
      throw new McpTransportException("it does not resume its response: " + refused.getMessage());
    }
  }

  private static boolean isEvents(HttpResponse<?> answer) {
    return answer
        .headers()
        .firstValue("Content-Type")
        .filter(type -> type.toLowerCase(Locale.ROOT).startsWith(EVENTS))
        .isPresent();
  }

  private static String readAll(InputStream body) throws IOException {
    var bytes = body.readNBytes(McpChannel.MESSAGE_BYTES_MAX + 1);
    if (bytes.length > McpChannel.MESSAGE_BYTES_MAX) {
      throw new IOException("a response has more than " + McpChannel.MESSAGE_BYTES_MAX + " bytes");
    }
    return new String(bytes, StandardCharsets.UTF_8);
  }

  /// Reads the response stream of a request. If the stream ends before the result, it is resumed
  /// after its last event, once the retry time of the server has passed.
  private void follow(InputStream body, @Nullable Object id, ContextView around)
      throws IOException, InterruptedException {
    var sseCursor = new SseStream.SseCursor();
    var answered = read(new StreamRead(body, id, true), sseCursor, around);
    for (var failures = 0; id != null && !answered; ) {
      if (sseCursor.id() == null) {
        throw new IOException("it ended the stream before the result");
      }
      Thread.sleep(sseCursor.retry());
      try {
        var answer = get(sseCursor, around);
        try (var more = answer.body()) {
          checkResumed(answer);
          failures = 0;
          answered = read(new StreamRead(more, id, false), sseCursor, around);
        }
      } catch (IOException broken) {
        if (closed || ++failures == RESUMES_MAX) {
          throw broken;
        }
      }
    }
  }

  /// A stream, and the id of the request whose result it may contain. With `toEnd` it is read to
  /// its end, so that the connection can be reused; a stream that serves more than one request may
  /// never end.
  private record StreamRead(InputStream body, @Nullable Object id, boolean toEnd) {}

  /// True if the result was received.
  private boolean read(StreamRead streamRead, SseStream.SseCursor sseCursor, ContextView around)
      throws IOException {
    var answered = false;
    try {
      var events = new SseStream(streamRead.body(), sseCursor);
      for (var data = events.next(); data != null; data = events.next()) {
        answered |=
            deliver(data, around).filter(known -> isSame(known, streamRead.id())).isPresent();
        if (answered && !streamRead.toEnd()) {
          return true;
        }
      }
    } catch (IOException broken) {
      // The stream can be resumed where it broke.
      if (answered) {
        return true;
      }
      if (closed || Thread.currentThread().isInterrupted() || sseCursor.id() == null) {
        throw broken;
      }
    }
    return answered;
  }

  private static boolean isSame(Object known, @Nullable Object id) {
    return String.valueOf(known).equals(String.valueOf(id));
  }

  /// Passes a message to the handler. Returns the id of the request that it answers, if any.
  private Optional<Object> deliver(String text, ContextView around) {
    JSONRPCMessage message;
    try {
      message = McpSchema.deserializeJsonRpcMessage(McpChannel.JSON, text);
    } catch (IOException | RuntimeException noMessage) {
      LOG.log(
          Level.DEBUG, "{0} sent an invalid message: {1}", server, BoundedText.cut(text, SHOWN));
      return Optional.empty();
    }
    handler
        .apply(Mono.just(message))
        .contextWrite(Context.of(around))
        .subscribe(
            _ -> {},
            broken -> LOG.log(Level.ERROR, "cannot handle a message of " + server, broken));
    return message instanceof JSONRPCResponse response
        ? Optional.ofNullable(response.id())
        : Optional.empty();
  }

  private HttpResponse<InputStream> get(SseStream.SseCursor sseCursor, ContextView around)
      throws IOException, InterruptedException {
    var request = request(around).header("Accept", EVENTS).GET();
    if (sseCursor.id() != null) {
      request.header("Last-Event-ID", sseCursor.id());
    }
    return http.send(request.build(), BodyHandlers.ofInputStream());
  }

  /// Reads messages that belong to no request, if the server has a stream for them.
  private void listen(ContextView around) {
    if (!listens.compareAndSet(false, true)) {
      return;
    }
    var version = around.<String>getOrEmpty(McpAsyncClient.NEGOTIATED_PROTOCOL_VERSION);
    var of =
        version
            .map(text -> Context.of(McpAsyncClient.NEGOTIATED_PROTOCOL_VERSION, text))
            .orElseGet(Context::empty);
    work("mcp-listen", () -> listenLoop(of));
  }

  private void listenLoop(ContextView around) {
    var sseCursor = new SseStream.SseCursor();
    var pause = sseCursor.retry();
    try {
      while (!closed) {
        var before = sseCursor.id();
        try {
          var answer = get(sseCursor, around);
          try (var body = answer.body()) {
            if (answer.statusCode() != OK || !isEvents(answer)) {
              // The server has no such stream. The next request reports a problem with the
              // connection, if there is one.
              return;
            }
            read(new StreamRead(body, null, true), sseCursor, around);
          }
        } catch (IOException broken) {
          if (!closed) {
            exceptionHandler.accept(broken);
          }
        }
        var news = sseCursor.id() != null && !sseCursor.id().equals(before);
        pause = news ? sseCursor.retry() : doubled(pause);
        Thread.sleep(pause);
      }
    } catch (InterruptedException closing) {
      // The transport is closed.
    }
  }

  private static Duration doubled(Duration pause) {
    var twice = pause.multipliedBy(2).plusMillis(1);
    return twice.compareTo(PAUSE_MAX) < 0 ? twice : PAUSE_MAX;
  }

  /// Ends the session on the server, if there is one.
  private void endSession() {
    if (session == null) {
      return;
    }
    try {
      var request = request(Context.empty()).timeout(END_SESSION_TIMEOUT).DELETE().build();
      http.send(request, BodyHandlers.discarding());
    } catch (IOException noMatter) {
      LOG.log(Level.DEBUG, "cannot end the session at {0}: {1}", server, noMatter.getMessage());
    } catch (InterruptedException inHaste) {
      Thread.currentThread().interrupt();
    }
  }
}
