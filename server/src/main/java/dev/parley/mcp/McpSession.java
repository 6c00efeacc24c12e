package dev.parley.mcp;

import dev.parley.mcp.McpFailure.FailureKind;
import dev.parley.mcp.McpRequest.RequestEvent;
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
final class McpSession implements AutoCloseable {

  private static final System.Logger LOG = System.getLogger(McpSession.class.getName());
  private static final String VERSION = ProtocolVersions.MCP_2025_11_25;
  private static final String CANCELLED = "notifications/cancelled";
  private static final String ORIGIN = McpSession.class.getName() + ".origin";
  private static final Duration CLOSING = Duration.ofSeconds(5);
  private static final Duration INITIALIZED_TIMEOUT = Duration.ofSeconds(5);
  private static final int LOGGED_MAX = 1_000;

  /// Receives the events of a session, on a thread that it must not block.
  interface SessionListener {

    /// The tool list of the server has changed.
    void onToolsChanged(McpSession mcpSession);

    /// The connection failed. If `over` is false, the session may still work and should be checked.
    void onFailure(McpSession mcpSession, McpFailure mcpFailure, boolean over);
  }

  private final String server;
  private final McpChannel mcpChannel;
  private final SessionListener listener;
  private final McpFailureFactory failures;
  private final AtomicLong ids = new AtomicLong();
  private final Map<String, McpRequest> open = new ConcurrentHashMap<>();
  // Held during calls once the server has asked a question without naming the call.
  private final Semaphore callPermit = new Semaphore(1, true);
  private volatile boolean oneCallAtATime;
  private volatile boolean answered;
  private volatile String version = VERSION;
  private final AtomicReference<@Nullable McpFailure> endReason = new AtomicReference<>();

  McpSession(String server, McpChannel mcpChannel, SessionListener sessionListener) {
    this.server = server;
    this.mcpChannel = mcpChannel;
    this.listener = sessionListener;
    this.failures = new McpFailureFactory(server, mcpChannel);
  }

  /// Opens the connection and initializes the session. Returns the capabilities of the server.
  JsonNode open(String clientVersion, Duration patience) throws McpFailure, InterruptedException {
    mcpChannel.transport().setExceptionHandler(this::onTransportError);
    mcpChannel
        .transport()
        .connect(
            incoming ->
                Mono.deferContextual(
                    around ->
                        incoming.doOnNext(
                            message ->
                                receive(message, around.<String>getOrEmpty(ORIGIN).orElse("")))))
        .subscribe(_ -> {}, failed -> end(failures.of(failed)));
    var hello = Json.object().put("protocolVersion", VERSION);
    // An elicitation capability without fields means forms.
    hello.putObject("capabilities").putObject("elicitation");
    hello.putObject("clientInfo").put("name", "parley").put("version", clientVersion);
    var welcome = request(McpSchema.METHOD_INITIALIZE, hello, patience);
    var wanted = welcome.path("protocolVersion").asString("");
    if (!mcpChannel.transport().protocolVersions().contains(wanted)) {
      throw failures.rejected("its MCP version is not supported: " + wanted);
    }
    version = wanted;
    sendInitialized();
    return welcome.path("capabilities");
  }

  /// Sends `initialized` and waits until the server has received it: over HTTP the next message
  /// could arrive first, and a server may offer some tools only then. The wait is short, and an
  /// error is reported by the next request.
  private void sendInitialized() throws InterruptedException {
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
    if (!heard.await(INITIALIZED_TIMEOUT.toMillis(), TimeUnit.MILLISECONDS)) {
      LOG.log(Level.DEBUG, "the MCP server {0} does not acknowledge initialized", server);
    }
  }

  /// Sends a request, and waits for the result.
  JsonNode request(String method, ObjectNode params, Duration patience)
      throws McpFailure, InterruptedException {
    return awaitResult(new McpRequest(ids.incrementAndGet(), null), method, params, patience);
  }

  /// Calls a tool, and waits for the result, at most `patience` without a message of the server. An
  /// interrupt or a timeout cancels the call.
  JsonNode call(String tool, ObjectNode arguments, ToolContext context, Duration patience)
      throws McpFailure, InterruptedException {
    var mcpRequest = new McpRequest(ids.incrementAndGet(), context);
    var params = Json.object().put("name", tool);
    params.set("arguments", arguments);
    params.putObject("_meta").put("progressToken", mcpRequest.id());
    var mine = oneCallAtATime;
    if (mine && !callPermit.tryAcquire(patience.toMillis(), TimeUnit.MILLISECONDS)) {
      throw new McpFailure(
          FailureKind.TIMED_OUT,
          "the MCP server " + server + " is busy with a question; try again later");
    }
    try {
      var result = awaitResult(mcpRequest, McpSchema.METHOD_TOOLS_CALL, params, patience);
      answered = true;
      return result;
    } finally {
      if (mine) {
        callPermit.release();
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
    } catch (McpFailure mcpFailure) {
      return mcpFailure.kind() == FailureKind.REJECTED;
    }
  }

  /// Ends the session and all its requests, for this reason.
  void end(McpFailure mcpFailure) {
    if (endReason.compareAndSet(null, mcpFailure)) {
      // First, so that a caller whose call fails does not get this session again.
      listener.onFailure(this, mcpFailure, true);
      open.values().forEach(mcpRequest -> mcpRequest.fail(mcpFailure));
    }
  }

  @Override
  public void close() {
    end(failures.unavailable("the connection is closed"));
    try {
      mcpChannel.transport().closeGracefully().block(CLOSING);
    } catch (RuntimeException unheard) {
      LOG.log(Level.DEBUG, "closing the connection to {0}: {1}", server, unheard.getMessage());
    }
  }

  private JsonNode awaitResult(
      McpRequest mcpRequest, String method, ObjectNode params, Duration patience)
      throws McpFailure, InterruptedException {
    var key = Long.toString(mcpRequest.id());
    open.put(key, mcpRequest);
    var reason = "the request was canceled";
    var finished = false;
    var sent = Disposables.disposed();
    try {
      var already = endReason.get();
      if (already != null) {
        throw already;
      }
      sent = send(new JSONRPCRequest(method, mcpRequest.id(), params), mcpRequest);
      while (true) {
        switch (mcpRequest.next(patience)) {
          case RequestEvent.ProgressReported progressReported ->
              mcpRequest
                  .context()
                  .ifPresent(context -> McpProgress.report(progressReported, context));
          case RequestEvent.QuestionAsked(var question) -> ask(question, mcpRequest);
          case RequestEvent.ResultReceived(var result) -> {
            finished = true;
            return result;
          }
          case RequestEvent.RequestFailed(var mcpFailure) -> {
            finished = true;
            throw mcpFailure;
          }
          case RequestEvent.RequestTimedOut _ -> {
            reason = "timed out";
            throw failures.timedOut(patience);
          }
        }
      }
    } finally {
      open.remove(key);
      if (!finished) {
        // The rest of the response is not needed.
        sent.dispose();
      }
      if (!finished && endReason.get() == null && !method.equals(McpSchema.METHOD_INITIALIZE)) {
        sendNotification(
            CANCELLED, Json.object().put("requestId", mcpRequest.id()).put("reason", reason));
      }
    }
  }

  private void ask(Elicitation question, McpRequest mcpRequest) throws InterruptedException {
    var reply = Elicitation.canceled();
    try {
      var context = mcpRequest.context().orElseThrow();
      reply = question.reply(context.ask(question.question(server)));
    } finally {
      sendResult(question.requestId(), reply);
    }
  }

  private void receive(JSONRPCMessage message, String origin) {
    switch (message) {
      case JSONRPCResponse response -> handleResponse(response);
      case JSONRPCRequest request -> handleRequest(request, origin);
      case JSONRPCNotification told -> handleNotification(told);
      default -> LOG.log(Level.DEBUG, "an unknown message from {0}", server);
    }
  }

  private void handleResponse(JSONRPCResponse response) {
    var mcpRequest = open.get(String.valueOf(response.id()));
    // Otherwise the request was canceled before its result arrived.
    if (mcpRequest != null) {
      if (response.error() == null) {
        mcpRequest.complete(tree(response.result()));
      } else {
        mcpRequest.fail(failures.rejected(response.error()));
      }
    }
  }

  private void handleRequest(JSONRPCRequest request, String origin) {
    switch (request.method()) {
      case McpSchema.METHOD_PING -> sendResult(request.id(), Json.object());
      case McpSchema.METHOD_ELICITATION_CREATE ->
          elicit(request.id(), tree(request.params()), origin);
      default -> sendError(request.id(), McpSchema.ErrorCodes.METHOD_NOT_FOUND, request.method());
    }
  }

  private void elicit(Object id, JsonNode params, String origin) {
    if (!params.path("mode").asString("form").equals("form")) {
      sendError(id, McpSchema.ErrorCodes.INVALID_PARAMS, "only form elicitation is supported");
      return;
    }
    var schema = params.path("requestedSchema");
    var question =
        new Elicitation(
            id,
            params.path("message").asString(""),
            schema instanceof ObjectNode object ? object : Json.object());
    var mcpRequest = open.get(origin);
    if (mcpRequest == null) {
      oneCallAtATime = true;
      mcpRequest = ElicitationTarget.guess(open.values());
    }
    if (mcpRequest == null || question.tooLarge() || !mcpRequest.addQuestion(question)) {
      LOG.log(Level.INFO, "rejected a question of the MCP server {0}", server);
      sendResult(id, Elicitation.canceled());
    }
  }

  private void handleNotification(JSONRPCNotification told) {
    var params = tree(told.params());
    switch (told.method()) {
      case McpSchema.METHOD_NOTIFICATION_PROGRESS -> {
        var mcpRequest = open.get(params.path("progressToken").asString(""));
        if (mcpRequest != null) {
          McpProgress.of(params).ifPresent(mcpRequest::setProgress);
        }
      }
      case McpSchema.METHOD_NOTIFICATION_TOOLS_LIST_CHANGED -> listener.onToolsChanged(this);
      case McpSchema.METHOD_NOTIFICATION_MESSAGE ->
          LOG.log(
              Level.DEBUG,
              () ->
                  "the MCP server "
                      + server
                      + ": "
                      + BoundedText.cut(params.toString(), LOGGED_MAX));
      default -> LOG.log(Level.TRACE, "{0} from {1}", told.method(), server);
    }
  }

  private void onTransportError(Throwable failure) {
    var mcpFailure = failures.of(failure);
    if (failure instanceof StdioTransport.ProcessEndedException) {
      end(mcpFailure);
    } else if (endReason.get() == null && mcpFailure.kind() != FailureKind.UNAUTHORIZED) {
      listener.onFailure(this, mcpFailure, false);
    }
  }

  private void sendNotification(String method, @Nullable ObjectNode params) {
    send(new JSONRPCNotification(method, params), null);
  }

  private void sendResult(Object id, ObjectNode result) {
    send(JSONRPCResponse.result(id, result), null);
  }

  private void sendError(Object id, int code, String why) {
    send(JSONRPCResponse.error(id, new JSONRPCResponse.JSONRPCError(code, why)), null);
  }

  /// Messages that the server sends because of this message carry the id of the exchange, if the
  /// transport supports it: over HTTP, but not over pipes.
  private Disposable send(JSONRPCMessage message, @Nullable McpRequest mcpRequest) {
    var origin = mcpRequest == null ? "" : Long.toString(mcpRequest.id());
    return sending(message, origin)
        .subscribe(
            _ -> {},
            failed -> {
              if (mcpRequest != null) {
                mcpRequest.fail(failures.of(failed));
              }
            });
  }

  private Mono<Void> sending(JSONRPCMessage message, String origin) {
    return mcpChannel
        .transport()
        .sendMessage(message)
        .contextWrite(
            Context.of(McpAsyncClient.NEGOTIATED_PROTOCOL_VERSION, version, ORIGIN, origin));
  }

  private static JsonNode tree(@Nullable Object value) {
    return value == null ? Json.object() : Json.mapper().valueToTree(value);
  }
}
