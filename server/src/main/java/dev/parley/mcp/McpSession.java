package dev.parley.mcp;

import dev.parley.mcp.McpFailure.FailureKind;
import dev.parley.mcp.McpFailure.McpFailureFactory;
import dev.parley.mcp.McpMessage.RpcFailure;
import dev.parley.mcp.McpMessage.RpcNotification;
import dev.parley.mcp.McpMessage.RpcRequest;
import dev.parley.mcp.McpMessage.RpcResult;
import dev.parley.mcp.McpRequest.RequestEvent;
import dev.parley.protocol.Json;
import dev.parley.runtime.Time;
import dev.parley.tool.ToolContext;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.LongNode;
import tools.jackson.databind.node.MissingNode;
import tools.jackson.databind.node.ObjectNode;

/// A session with one server over one connection: requests, responses, and the requests and
/// notifications of the server. Safe for many threads; the lock of `callLock` guards `calling`.
final class McpSession implements AutoCloseable, McpTransport.Receiver {

  private static final System.Logger LOG = System.getLogger(McpSession.class.getName());
  private static final String VERSION = "2025-11-25";
  private static final String CANCELLED = "notifications/cancelled";
  private static final String INITIALIZE = "initialize";
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
  private final McpTransport transport;
  private final Time time;
  private final SessionListener listener;
  private final McpFailureFactory failures;
  private final AtomicLong ids = new AtomicLong();
  private final Map<String, McpRequest> open = new ConcurrentHashMap<>();
  // One call at a time, once the server has asked a question without naming the call.
  private final Object callLock = new Object();
  private boolean calling;
  private volatile boolean oneCallAtATime;
  private volatile boolean answered;
  private final AtomicReference<@Nullable McpFailure> endReason = new AtomicReference<>();

  McpSession(String server, McpTransport transport, SessionListener sessionListener, Time time) {
    this.server = server;
    this.transport = transport;
    this.time = time;
    this.listener = sessionListener;
    this.failures = new McpFailureFactory(server, transport);
  }

  /// Opens the connection and initializes the session. Returns the capabilities of the server.
  JsonNode open(String clientVersion, Duration patience) throws McpFailure, InterruptedException {
    try {
      transport.open(this);
    } catch (IOException failed) {
      end(failures.of(failed));
    }
    var hello = Json.object().put("protocolVersion", VERSION);
    // An elicitation capability without fields means forms.
    hello.putObject("capabilities").putObject("elicitation");
    hello.putObject("clientInfo").put("name", "parley").put("version", clientVersion);
    var welcome = request(INITIALIZE, hello, patience);
    var wanted = welcome.path("protocolVersion").asString("");
    if (!transport.versions().contains(wanted)) {
      throw failures.rejected("its MCP version is not supported: " + wanted);
    }
    transport.setVersion(wanted);
    sendInitialized();
    return welcome.path("capabilities");
  }

  /// Sends `initialized` and waits until the server has received it: over HTTP the next message
  /// could arrive first, and a server may offer some tools only then. The wait is short, and an
  /// error is reported by the next request.
  private void sendInitialized() throws InterruptedException {
    var received = new McpRequest(ids.incrementAndGet(), null, time);
    transport.send(
        new RpcNotification("notifications/initialized", MissingNode.getInstance()),
        "",
        failure -> {
          if (failure != null) {
            LOG.log(
                Level.DEBUG, "cannot send initialized to {0}: {1}", server, failure.getMessage());
          }
          received.complete(Json.object());
        });
    if (received.next(INITIALIZED_TIMEOUT) instanceof RequestEvent.RequestTimedOut) {
      LOG.log(Level.DEBUG, "the MCP server {0} does not acknowledge initialized", server);
    }
  }

  /// Sends a request, and waits for the result.
  JsonNode request(String method, ObjectNode params, Duration patience)
      throws McpFailure, InterruptedException {
    return awaitResult(new McpRequest(ids.incrementAndGet(), null, time), method, params, patience);
  }

  /// Calls a tool, and waits for the result, at most `patience` without a message of the server. An
  /// interrupt or a timeout cancels the call.
  JsonNode call(String tool, ObjectNode arguments, ToolContext context, Duration patience)
      throws McpFailure, InterruptedException {
    var mcpRequest = new McpRequest(ids.incrementAndGet(), context, time);
    var params = Json.object().put("name", tool);
    params.set("arguments", arguments);
    params.putObject("_meta").put("progressToken", mcpRequest.id());
    var mine = oneCallAtATime;
    if (mine) {
      startCall(patience);
    }
    try {
      var result = awaitResult(mcpRequest, "tools/call", params, patience);
      answered = true;
      return result;
    } finally {
      if (mine) {
        endCall();
      }
    }
  }

  private void startCall(Duration patience) throws McpFailure, InterruptedException {
    var deadline = time.deadline(patience);
    synchronized (callLock) {
      while (calling) {
        if (time.remaining(deadline) <= 0) {
          throw new McpFailure(
              FailureKind.TIMED_OUT,
              "the MCP server " + server + " is busy with a question; try again later");
        }
        time.waitUntil(callLock, deadline);
      }
      calling = true;
    }
  }

  private void endCall() {
    synchronized (callLock) {
      calling = false;
      callLock.notifyAll();
    }
  }

  /// True if the server has completed a call.
  boolean answered() {
    return answered;
  }

  /// True if the server still answers.
  boolean alive(Duration patience) throws InterruptedException {
    try {
      request("ping", Json.object(), patience);
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
    transport.close();
  }

  private JsonNode awaitResult(
      McpRequest mcpRequest, String method, ObjectNode params, Duration patience)
      throws McpFailure, InterruptedException {
    var key = Long.toString(mcpRequest.id());
    open.put(key, mcpRequest);
    var reason = "the request was canceled";
    var finished = false;
    McpTransport.Sending sent = () -> {};
    try {
      var already = endReason.get();
      if (already != null) {
        throw already;
      }
      // Messages that the server sends because of this one carry its id, if the transport supports
      // it: over HTTP, but not over pipes.
      sent =
          transport.send(
              new RpcRequest(LongNode.valueOf(mcpRequest.id()), method, params),
              key,
              failure -> {
                if (failure != null) {
                  mcpRequest.fail(failures.of(failure));
                }
              });
      while (true) {
        switch (mcpRequest.next(patience)) {
          case RequestEvent.ProgressReported progressReported ->
              mcpRequest.context().ifPresent(progressReported::report);
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
        sent.cancel();
      }
      if (!finished && endReason.get() == null && !method.equals(INITIALIZE)) {
        send(
            new RpcNotification(
                CANCELLED, Json.object().put("requestId", mcpRequest.id()).put("reason", reason)));
      }
    }
  }

  private void ask(Elicitation question, McpRequest mcpRequest) throws InterruptedException {
    var reply = Elicitation.canceled();
    try {
      var context = mcpRequest.context().orElseThrow();
      reply = question.reply(context.ask(question.question(server)));
    } finally {
      send(new RpcResult(question.requestId(), reply));
    }
  }

  @Override
  public void onMessage(McpMessage message, String origin) {
    switch (message) {
      case RpcResult(var id, var result) -> end(id, mcpRequest -> mcpRequest.complete(result));
      case RpcFailure(var id, var code, var text) ->
          end(id, mcpRequest -> mcpRequest.fail(failures.rejected("error " + code + ": " + text)));
      case RpcRequest request -> handleRequest(request, origin);
      case RpcNotification(var method, var params) -> handleNotification(method, params);
    }
  }

  /// Does nothing if the request was canceled before its result arrived.
  private void end(JsonNode id, Consumer<McpRequest> end) {
    var mcpRequest = open.get(id.asString(""));
    if (mcpRequest != null) {
      end.accept(mcpRequest);
    }
  }

  private void handleRequest(RpcRequest request, String origin) {
    switch (request.method()) {
      case "ping" -> send(new RpcResult(request.id(), Json.object()));
      case "elicitation/create" -> elicit(request.id(), request.params(), origin);
      default -> send(new RpcFailure(request.id(), RpcFailure.METHOD_NOT_FOUND, request.method()));
    }
  }

  private void elicit(JsonNode id, JsonNode params, String origin) {
    if (!params.path("mode").asString("form").equals("form")) {
      send(new RpcFailure(id, RpcFailure.INVALID_PARAMS, "only form elicitation is supported"));
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
      mcpRequest = guessTarget();
    }
    if (mcpRequest == null || question.tooLarge() || !mcpRequest.addQuestion(question)) {
      LOG.log(Level.INFO, "rejected a question of the MCP server {0}", server);
      send(new RpcResult(id, Elicitation.canceled()));
    }
  }

  /// The call that a question belongs to if the server does not name it: the only open call; or
  /// the newest one, if all are made for the same owner in the same context. Otherwise null: a
  /// question must not be shown to the wrong person.
  private @Nullable McpRequest guessTarget() {
    var calls = open.values().stream().filter(each -> each.context().isPresent()).toList();
    var people =
        calls.stream()
            .map(each -> each.context().orElseThrow())
            .map(context -> List.of(context.owner(), context.context()))
            .distinct()
            .count();
    return people == 1
        ? calls.stream().max(Comparator.comparingLong(McpRequest::id)).orElseThrow()
        : null;
  }

  private void handleNotification(String method, JsonNode params) {
    switch (method) {
      case "notifications/progress" -> {
        var mcpRequest = open.get(params.path("progressToken").asString(""));
        if (mcpRequest != null) {
          RequestEvent.ProgressReported.of(params).ifPresent(mcpRequest::setProgress);
        }
      }
      case "notifications/tools/list_changed" -> listener.onToolsChanged(this);
      case "notifications/message" ->
          LOG.log(
              Level.DEBUG,
              () ->
                  "the MCP server "
                      + server
                      + ": "
                      + BoundedText.cut(params.toString(), LOGGED_MAX));
      default -> LOG.log(Level.TRACE, "{0} from {1}", method, server);
    }
  }

  @Override
  public void onFailure(IOException failure, boolean over) {
    var mcpFailure = failures.of(failure);
    if (over) {
      end(mcpFailure);
    } else if (endReason.get() == null && mcpFailure.kind() != FailureKind.UNAUTHORIZED) {
      listener.onFailure(this, mcpFailure, false);
    }
  }

  /// Sends a message that needs no response. The next request reports a failure.
  private void send(McpMessage message) {
    transport.send(message, "", _ -> {});
  }
}
