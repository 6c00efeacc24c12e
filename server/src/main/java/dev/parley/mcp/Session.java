package dev.parley.mcp;

import dev.parley.mcp.Exchange.News;
import dev.parley.mcp.Trouble.Kind;
import dev.parley.protocol.Json;
import dev.parley.tool.ToolContext;
import io.modelcontextprotocol.client.McpAsyncClient;
import io.modelcontextprotocol.spec.McpSchema;
import io.modelcontextprotocol.spec.McpSchema.JSONRPCMessage;
import io.modelcontextprotocol.spec.McpSchema.JSONRPCNotification;
import io.modelcontextprotocol.spec.McpSchema.JSONRPCRequest;
import io.modelcontextprotocol.spec.McpSchema.JSONRPCResponse;
import io.modelcontextprotocol.spec.ProtocolVersions;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Mono;
import reactor.util.context.Context;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// A session with one server over one connection: requests, responses, and the requests and
/// notifications of the server. Safe for many threads.
///
/// It replaces the client of the SDK, which can neither cancel a request nor report during which
/// request the server asks a question (decision 0011).
final class Session implements AutoCloseable {

  private static final System.Logger LOG = System.getLogger(Session.class.getName());
  private static final String VERSION = ProtocolVersions.MCP_2025_11_25;
  private static final String CANCELLED = "notifications/cancelled";
  private static final String ORIGIN = Session.class.getName() + ".origin";
  private static final Duration CLOSING = Duration.ofSeconds(5);
  private static final Duration HEARING = Duration.ofSeconds(5);
  private static final int LOGGED_MAX = 1_000;

  /// Receives the events of a session, on a thread that it must not block.
  interface Keeper {

    /// The tool list of the server has changed.
    void toolsChanged(Session session);

    /// The connection failed. If `over` is false, the session may still work and should be checked.
    void troubled(Session session, Trouble trouble, boolean over);
  }

  private final String server;
  private final Wire wire;
  private final Keeper keeper;
  private final Faults faults;
  private final AtomicLong ids = new AtomicLong();
  private final Map<String, Exchange> open = new ConcurrentHashMap<>();
  // Held during calls once the server has asked a question without naming the call.
  private final Semaphore turn = new Semaphore(1, true);
  private volatile boolean takesTurns;
  private volatile boolean answered;
  private volatile String version = VERSION;
  private final AtomicReference<@Nullable Trouble> over = new AtomicReference<>();

  Session(String server, Wire wire, Keeper keeper) {
    this.server = server;
    this.wire = wire;
    this.keeper = keeper;
    this.faults = new Faults(server, wire);
  }

  /// Opens the connection and initializes the session. Returns the capabilities of the server.
  JsonNode open(String clientVersion, Duration patience) throws Trouble, InterruptedException {
    wire.transport().setExceptionHandler(this::troubled);
    wire.transport()
        .connect(
            incoming ->
                Mono.deferContextual(
                    around ->
                        incoming.doOnNext(
                            message ->
                                receive(message, around.<String>getOrEmpty(ORIGIN).orElse("")))))
        .subscribe(_ -> {}, failed -> end(faults.of(failed)));
    var hello = Json.object().put("protocolVersion", VERSION);
    // An elicitation capability without fields means forms.
    hello.putObject("capabilities").putObject("elicitation");
    hello.putObject("clientInfo").put("name", "parley").put("version", clientVersion);
    var welcome = request(McpSchema.METHOD_INITIALIZE, hello, patience);
    var wanted = welcome.path("protocolVersion").asString("");
    if (!wire.transport().protocolVersions().contains(wanted)) {
      throw faults.refused("its MCP version is not supported: " + wanted);
    }
    version = wanted;
    agreed();
    return welcome.path("capabilities");
  }

  /// Sends `initialized` and waits until the server has received it: over HTTP the next message
  /// could arrive first, and a server may offer some tools only then. The wait is short, and an
  /// error is reported by the next request.
  private void agreed() throws InterruptedException {
    var heard = new CountDownLatch(1);
    sending(new JSONRPCNotification(McpSchema.METHOD_NOTIFICATION_INITIALIZED, null), "")
        .doFinally(_ -> heard.countDown())
        .subscribe(
            _ -> {},
            failed ->
                LOG.log(
                    Level.DEBUG,
                    "cannot send initialized to {0}: {1}",
                    server,
                    failed.getMessage()));
    if (!heard.await(HEARING.toMillis(), TimeUnit.MILLISECONDS)) {
      LOG.log(Level.DEBUG, "the MCP server {0} does not acknowledge initialized", server);
    }
  }

  /// Sends a request, and waits for the result.
  JsonNode request(String method, ObjectNode params, Duration patience)
      throws Trouble, InterruptedException {
    return exchange(new Exchange(ids.incrementAndGet(), null), method, params, patience);
  }

  /// Calls a tool, and waits for the result, at most `patience` without a message of the server. An
  /// interrupt or a timeout cancels the call.
  JsonNode call(String tool, ObjectNode arguments, ToolContext context, Duration patience)
      throws Trouble, InterruptedException {
    var exchange = new Exchange(ids.incrementAndGet(), context);
    var params = Json.object().put("name", tool);
    params.set("arguments", arguments);
    params.putObject("_meta").put("progressToken", exchange.id());
    var mine = takesTurns;
    if (mine && !turn.tryAcquire(patience.toMillis(), TimeUnit.MILLISECONDS)) {
      throw new Trouble(
          Kind.SILENT, "the MCP server " + server + " is busy with a question; try again later");
    }
    try {
      var result = exchange(exchange, McpSchema.METHOD_TOOLS_CALL, params, patience);
      answered = true;
      return result;
    } finally {
      if (mine) {
        turn.release();
      }
    }
  }

  /// True if the server has completed a call.
  boolean answered() {
    return answered;
  }

  /// True if the server still answers.
  boolean alive(Duration patience) throws InterruptedException {
    try {
      request(McpSchema.METHOD_PING, Json.object(), patience);
      return true;
    } catch (Trouble trouble) {
      return trouble.kind() == Kind.REFUSED;
    }
  }

  /// Ends the session and all its requests, for this reason.
  void end(Trouble trouble) {
    if (over.compareAndSet(null, trouble)) {
      // First, so that a caller whose call fails does not get this session again.
      keeper.troubled(this, trouble, true);
      open.values().forEach(exchange -> exchange.fail(trouble));
    }
  }

  @Override
  public void close() {
    end(faults.gone("the connection is closed"));
    try {
      wire.transport().closeGracefully().block(CLOSING);
    } catch (RuntimeException unheard) {
      LOG.log(Level.DEBUG, "closing the connection to {0}: {1}", server, unheard.getMessage());
    }
  }

  private JsonNode exchange(Exchange exchange, String method, ObjectNode params, Duration patience)
      throws Trouble, InterruptedException {
    var key = Long.toString(exchange.id());
    open.put(key, exchange);
    var reason = "the request was canceled";
    var finished = false;
    var sent = Disposables.disposed();
    try {
      var already = over.get();
      if (already != null) {
        throw already;
      }
      sent = send(new JSONRPCRequest(method, exchange.id(), params), exchange);
      while (true) {
        switch (exchange.next(patience)) {
          case News.Moved moved ->
              exchange.context().ifPresent(context -> Progress.tell(moved, context));
          case News.Asked(var question) -> ask(question, exchange);
          case News.Answered(var result) -> {
            finished = true;
            return result;
          }
          case News.Failed(var trouble) -> {
            finished = true;
            throw trouble;
          }
          case News.Silence _ -> {
            reason = "timed out";
            throw faults.silent(patience);
          }
        }
      }
    } finally {
      open.remove(key);
      if (!finished) {
        // The rest of the response is not needed.
        sent.dispose();
      }
      if (!finished && over.get() == null && !method.equals(McpSchema.METHOD_INITIALIZE)) {
        tell(CANCELLED, Json.object().put("requestId", exchange.id()).put("reason", reason));
      }
    }
  }

  private void ask(Elicitation question, Exchange exchange) throws InterruptedException {
    var reply = Elicitation.canceled();
    try {
      var context = exchange.context().orElseThrow();
      reply = question.reply(context.ask(question.question(server)));
    } finally {
      reply(question.requestId(), reply);
    }
  }

  private void receive(JSONRPCMessage message, String origin) {
    switch (message) {
      case JSONRPCResponse response -> answer(response);
      case JSONRPCRequest request -> serve(request, origin);
      case JSONRPCNotification told -> heed(told);
      default -> LOG.log(Level.DEBUG, "an unknown message from {0}", server);
    }
  }

  private void answer(JSONRPCResponse response) {
    var exchange = open.get(String.valueOf(response.id()));
    // Otherwise the request was canceled before its result arrived.
    if (exchange != null) {
      if (response.error() == null) {
        exchange.answer(tree(response.result()));
      } else {
        exchange.fail(faults.refused(response.error()));
      }
    }
  }

  private void serve(JSONRPCRequest request, String origin) {
    switch (request.method()) {
      case McpSchema.METHOD_PING -> reply(request.id(), Json.object());
      case McpSchema.METHOD_ELICITATION_CREATE ->
          elicit(request.id(), tree(request.params()), origin);
      default -> refuse(request.id(), McpSchema.ErrorCodes.METHOD_NOT_FOUND, request.method());
    }
  }

  private void elicit(Object id, JsonNode params, String origin) {
    if (!params.path("mode").asString("form").equals("form")) {
      refuse(id, McpSchema.ErrorCodes.INVALID_PARAMS, "only form elicitation is supported");
      return;
    }
    var schema = params.path("requestedSchema");
    var question =
        new Elicitation(
            id,
            params.path("message").asString(""),
            schema instanceof ObjectNode object ? object : Json.object());
    var exchange = open.get(origin);
    if (exchange == null) {
      takesTurns = true;
      exchange = Origins.guess(open.values());
    }
    if (exchange == null || question.excessive() || !exchange.ask(question)) {
      LOG.log(Level.INFO, "rejected a question of the MCP server {0}", server);
      reply(id, Elicitation.canceled());
    }
  }

  private void heed(JSONRPCNotification told) {
    var params = tree(told.params());
    switch (told.method()) {
      case McpSchema.METHOD_NOTIFICATION_PROGRESS -> {
        var exchange = open.get(params.path("progressToken").asString(""));
        if (exchange != null) {
          Progress.of(params).ifPresent(exchange::move);
        }
      }
      case McpSchema.METHOD_NOTIFICATION_TOOLS_LIST_CHANGED -> keeper.toolsChanged(this);
      case McpSchema.METHOD_NOTIFICATION_MESSAGE ->
          LOG.log(
              Level.DEBUG,
              () -> "the MCP server " + server + ": " + Text.cut(params.toString(), LOGGED_MAX));
      default -> LOG.log(Level.TRACE, "{0} from {1}", told.method(), server);
    }
  }

  private void troubled(Throwable failure) {
    var trouble = faults.of(failure);
    if (failure instanceof StdioTransport.Ended) {
      end(trouble);
    } else if (over.get() == null && trouble.kind() != Kind.UNAUTHORIZED) {
      keeper.troubled(this, trouble, false);
    }
  }

  private void tell(String method, @Nullable ObjectNode params) {
    send(new JSONRPCNotification(method, params), null);
  }

  private void reply(Object id, ObjectNode result) {
    send(JSONRPCResponse.result(id, result), null);
  }

  private void refuse(Object id, int code, String why) {
    send(JSONRPCResponse.error(id, new JSONRPCResponse.JSONRPCError(code, why)), null);
  }

  /// Messages that the server sends because of this message carry the id of the exchange, if the
  /// transport supports it: over HTTP, but not over pipes.
  private Disposable send(JSONRPCMessage message, @Nullable Exchange exchange) {
    var origin = exchange == null ? "" : Long.toString(exchange.id());
    return sending(message, origin)
        .subscribe(
            _ -> {},
            failed -> {
              if (exchange != null) {
                exchange.fail(faults.of(failed));
              }
            });
  }

  private Mono<Void> sending(JSONRPCMessage message, String origin) {
    return wire.transport()
        .sendMessage(message)
        .contextWrite(
            Context.of(McpAsyncClient.NEGOTIATED_PROTOCOL_VERSION, version, ORIGIN, origin));
  }

  private static JsonNode tree(@Nullable Object value) {
    return value == null ? Json.object() : Json.mapper().valueToTree(value);
  }
}
