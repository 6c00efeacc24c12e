package dev.parley.mcp;

import dev.parley.mcp.McpMessage.RpcFailure;
import dev.parley.mcp.McpMessage.RpcNotification;
import dev.parley.mcp.McpMessage.RpcRequest;
import dev.parley.mcp.McpMessage.RpcResult;
import dev.parley.net.Backoff;
import dev.parley.net.OutgoingHttpClient;
import dev.parley.net.ResponseStream;
import dev.parley.net.ServerSentEventStream;
import dev.parley.net.ServerSentEventStream.EventLimits;
import dev.parley.net.ServerSentEventStream.StreamItem;
import dev.parley.protocol.Json;
import dev.parley.runtime.Threads;
import dev.parley.runtime.Time;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/// A transport over streamable HTTP. Safe for many threads. Each request has its own virtual
/// thread.
///
/// A response whose stream ends early is resumed (SEP-1699).
final class HttpTransport implements McpTransport {

  private static final System.Logger LOG = System.getLogger(HttpTransport.class.getName());
  private static final Duration END_SESSION_TIMEOUT = Duration.ofSeconds(2);
  private static final Duration ERROR_PATIENCE = Duration.ofSeconds(5);
  private static final Duration PAUSE_MAX = Duration.ofMinutes(1);
  private static final int RESUMES_MAX = 5;
  private static final int SHOWN = 200;
  private static final String SESSION = "Mcp-Session-Id";
  private static final String EVENTS = "text/event-stream";
  private static final EventLimits EVENT_LIMITS = new EventLimits(McpMessage.BYTES_MAX);
  private static final int OK = 200;

  /// What all transports of a server share. `bearer` supplies the current token for each request,
  /// if there is one.
  record HttpTransportDependencies(
      OutgoingHttpClient http, Time time, Threads threads, Supplier<Optional<String>> bearer) {}

  /// The position in a stream, and how long to wait before it is resumed. For one thread.
  private static final class Cursor {
    private @Nullable String id;
    private Duration retry = Duration.ofSeconds(1);

    void update(ServerSentEventStream events) {
      id = events.lastEventId() == null ? id : events.lastEventId();
      var wanted = events.retry();
      if (wanted != null) {
        retry = wanted.compareTo(PAUSE_MAX) < 0 ? wanted : PAUSE_MAX;
      }
    }
  }

  private final McpServer.HttpEndpoint server;
  private final HttpTransportDependencies dependencies;
  private final Set<Thread> workers = ConcurrentHashMap.newKeySet();
  private final AtomicBoolean listens = new AtomicBoolean();
  private volatile @Nullable Receiver receiver;
  private volatile @Nullable String session;
  private volatile @Nullable String version;
  private volatile boolean closed;

  HttpTransport(McpServer.HttpEndpoint server, HttpTransportDependencies dependencies) {
    this.server = server;
    this.dependencies = dependencies;
  }

  @Override
  public void open(Receiver given) {
    receiver = given;
  }

  @Override
  public List<String> versions() {
    return List.of("2025-03-26", "2025-06-18", "2025-11-25");
  }

  @Override
  public void setVersion(String negotiated) {
    version = negotiated;
  }

  @Override
  public String lastLines() {
    return "";
  }

  @Override
  public Sending send(McpMessage message, String origin, Consumer<@Nullable IOException> done) {
    var worker =
        work(
            "mcp-send",
            () -> {
              @Nullable IOException failure = null;
              try {
                post(message, origin);
              } catch (InterruptedException stopped) {
                failure = new IOException("the request was canceled");
              } catch (IOException failed) {
                failure = failed;
              }
              done.accept(failure);
            });
    return worker::interrupt;
  }

  @Override
  public void close() {
    closed = true;
    endSession();
    workers.forEach(Thread::interrupt);
  }

  private Thread work(String name, Runnable work) {
    var thread =
        dependencies
            .threads()
            .unstarted(
                name,
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

  private void post(McpMessage message, String origin) throws IOException, InterruptedException {
    var known = session != null;
    var request =
        request()
            .header("Content-Type", "application/json")
            .header("Accept", "application/json, " + EVENTS)
            .POST(BodyPublishers.ofByteArray(Json.bytes(message.json())));
    try (var answer = open(request)) {
      if (answer.status() / 100 != 2) {
        throw refusal(answer, known);
      }
      answer.headers().firstValue(SESSION).ifPresent(id -> session = id);
      if (message instanceof RpcNotification(var method, _)
          && method.equals("notifications/initialized")) {
        listen();
      }
      var asked = message instanceof RpcRequest(var id, _, _) ? id : null;
      if (answer.hasEvents()) {
        follow(answer, asked, origin);
      } else if (asked != null) {
        var body = answer.readAll(McpMessage.BYTES_MAX, Time.WAIT_MAX);
        deliver(new String(body, StandardCharsets.UTF_8), origin);
      }
    } catch (TimeoutException never) {
      throw new IOException(never);
    }
  }

  private HttpRequest.Builder request() {
    var request = HttpRequest.newBuilder(server.url());
    server.headers().forEach(request::setHeader);
    dependencies
        .bearer()
        .get()
        .ifPresent(token -> request.setHeader("Authorization", "Bearer " + token));
    var known = session;
    var negotiated = version;
    if (known != null) {
      request.setHeader(SESSION, known);
      if (negotiated != null) {
        request.setHeader("MCP-Protocol-Version", negotiated);
      }
    }
    return request;
  }

  /// Without a timeout: the session decides how long a request may take, and interrupts it.
  private ResponseStream open(HttpRequest.Builder request)
      throws IOException, InterruptedException {
    try {
      return dependencies.http().open(request.build(), Time.WAIT_MAX);
    } catch (TimeoutException never) {
      throw new IOException(never);
    }
  }

  private static StatusException refusal(ResponseStream answer, boolean known)
      throws InterruptedException {
    var text = answer.excerpt(SHOWN, ERROR_PATIENCE).strip();
    return new StatusException(answer.status(), answer.headers(), known, text);
  }

  /// Reads the response stream of a request. If the stream ends before the result, it is resumed
  /// after its last event, once the retry time of the server has passed.
  private void follow(ResponseStream answer, @Nullable JsonNode id, String origin)
      throws IOException, InterruptedException {
    var cursor = new Cursor();
    var answered = read(new StreamRead(answer, id, true), cursor, origin);
    for (var failures = 0; id != null && !answered; ) {
      if (cursor.id == null) {
        throw new IOException("it ended the stream before the result");
      }
      dependencies.time().sleep(cursor.retry);
      @Nullable StatusException refusal = null;
      try (var more = get(cursor)) {
        if (more.status() / 100 == 2) {
          failures = 0;
          answered = read(new StreamRead(more, id, false), cursor, origin);
        } else {
          refusal = refusal(more, false);
        }
      } catch (IOException broken) {
        if (closed || ++failures == RESUMES_MAX) {
          throw broken;
        }
      }
      if (refusal != null) {
        // The server has accepted the request, and may have executed it. So no status may be
        // treated here as if nothing had been done and the request could be sent again.
        throw new IOException("it does not resume its response: " + refusal.getMessage());
      }
    }
  }

  /// A stream, and the id of the request whose result it may contain. With `toEnd` it is read to
  /// its end, so that the connection can be reused; a stream that serves more than one request may
  /// never end.
  private record StreamRead(ResponseStream body, @Nullable JsonNode id, boolean toEnd) {}

  /// True if the result was received.
  private boolean read(StreamRead streamRead, Cursor cursor, String origin)
      throws IOException, InterruptedException {
    var answered = false;
    var events = streamRead.body().events(EVENT_LIMITS);
    while (true) {
      var item = events.next(Time.WAIT_MAX);
      cursor.update(events);
      switch (item) {
        case StreamItem.EventReceived(var event) -> {
          var isMessage = event.event().isEmpty() || event.event().equals("message");
          if (isMessage && !event.data().isEmpty()) {
            var id = deliver(event.data(), origin);
            answered |= id.isPresent() && isSame(id.get(), streamRead.id());
            if (answered && !streamRead.toEnd()) {
              return true;
            }
          }
        }
        case StreamItem.StreamEnded(var reason) -> {
          // A stream that broke can be resumed there.
          if (reason == null || answered || (!closed && cursor.id != null)) {
            return answered;
          }
          throw reason;
        }
        case StreamItem.StreamSilent _ -> {} // Waits on.
      }
    }
  }

  private static boolean isSame(JsonNode known, @Nullable JsonNode id) {
    return id != null && known.asString("").equals(id.asString(""));
  }

  /// Passes a message on. Returns the id of the request that it answers, if any.
  private Optional<JsonNode> deliver(String text, String origin) {
    McpMessage message;
    try {
      message = McpMessage.parse(text);
    } catch (IOException noMessage) {
      LOG.log(
          Level.DEBUG, "{0} sent an invalid message: {1}", server, BoundedText.cut(text, SHOWN));
      return Optional.empty();
    }
    var to = receiver;
    if (to != null) {
      to.onMessage(message, origin);
    }
    return switch (message) {
      case RpcResult(var id, _) -> Optional.of(id);
      case RpcFailure(var id, _, _) -> Optional.of(id);
      case RpcRequest _, RpcNotification _ -> Optional.empty();
    };
  }

  private ResponseStream get(Cursor cursor) throws IOException, InterruptedException {
    var request = request().header("Accept", EVENTS).GET();
    if (cursor.id != null) {
      request.header("Last-Event-ID", cursor.id);
    }
    return open(request);
  }

  /// Reads messages that belong to no request, if the server has a stream for them.
  private void listen() {
    if (listens.compareAndSet(false, true)) {
      work("mcp-listen", this::listenLoop);
    }
  }

  private void listenLoop() {
    var cursor = new Cursor();
    var failures = 0;
    try {
      while (!closed) {
        var before = cursor.id;
        try (var answer = get(cursor)) {
          if (answer.status() != OK || !answer.hasEvents()) {
            // The server has no such stream. The next request reports a problem with the
            // connection, if there is one.
            return;
          }
          read(new StreamRead(answer, null, true), cursor, "");
        } catch (IOException broken) {
          var to = receiver;
          if (!closed && to != null) {
            to.onFailure(broken, false);
          }
        }
        var news = cursor.id != null && !cursor.id.equals(before);
        failures = news ? 0 : failures + 1;
        dependencies.time().sleep(new Backoff(cursor.retry, PAUSE_MAX).delay(failures + 1));
      }
    } catch (InterruptedException closing) {
      // The transport is closed.
    }
  }

  /// Ends the session on the server, if there is one.
  private void endSession() {
    if (session == null) {
      return;
    }
    try (var _ = dependencies.http().open(request().DELETE().build(), END_SESSION_TIMEOUT)) {
      // The status does not matter.
    } catch (IOException | TimeoutException noMatter) {
      LOG.log(Level.DEBUG, "cannot end the session at {0}: {1}", server, noMatter.getMessage());
    } catch (InterruptedException inHaste) {
      Thread.currentThread().interrupt();
    }
  }
}
