package dev.parley.api.contexts;

import dev.parley.http.ApiDependencies;
import dev.parley.http.ContextSubscription;
import dev.parley.http.EncodedFrames;
import dev.parley.http.Problem;
import dev.parley.http.WebSocketConnection;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Json;
import dev.parley.protocol.Position;
import dev.parley.protocol.Rejection;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// The subscriptions of one WebSocket.
///
/// One thread receives; each subscription has a thread that reads the log and sends.
final class SocketSubscriptions {

  private static final System.Logger LOG = System.getLogger(SocketSubscriptions.class.getName());
  private static final int MAX = 1_000;

  private final ApiDependencies parts;
  private final String principal;
  private final WebSocketConnection webSocketConnection;
  private final Semaphore turn = new Semaphore(1, true);
  private final Map<ContextId, OpenSubscription> open = new ConcurrentHashMap<>();

  private record OpenSubscription(ContextSubscription follower, Thread thread) {}

  SocketSubscriptions(
      ApiDependencies parts, String principal, WebSocketConnection webSocketConnection) {
    this.parts = parts;
    this.principal = principal;
    this.webSocketConnection = webSocketConnection;
  }

  /// Handles the client's messages until it disconnects.
  void serve() throws IOException, InterruptedException {
    try {
      for (var text = webSocketConnection.receive();
          text != null;
          text = webSocketConnection.receive()) {
        handle(text);
      }
    } finally {
      for (var openSubscription : List.copyOf(open.values())) {
        openSubscription.follower().end();
      }
      for (var openSubscription : List.copyOf(open.values())) {
        openSubscription.thread().join();
      }
    }
  }

  private void handle(String text) throws IOException, InterruptedException {
    @Nullable SocketCommand wish = null;
    try {
      wish = SocketCommand.read(text);
      switch (wish.type()) {
        case "subscribe" -> subscribe(wish);
        case "unsubscribe" -> unsubscribe(wish);
        case "ack" -> acknowledge(wish);
        case "ping" -> {
          wish.checkFields();
          send(message("pong", wish.id()));
        }
        default -> throw new Rejection.Invalid("type must be subscribe, unsubscribe, ack or ping");
      }
    } catch (Rejection refused) {
      var context = wish == null ? null : wish.fields().get("contextId");
      send(error(refused, wish == null ? null : wish.id(), context));
    }
  }

  private void subscribe(SocketCommand wish) {
    var wanted = wish.subscriptionRequest(parts.views());
    var context = wanted.context();
    parts.access().check(principal, context);
    if (wanted.filter().internal()) {
      parts.access().checkInternal(principal);
    }
    if (open.containsKey(context)) {
      throw new Rejection.Conflict(
          "already-subscribed",
          "this socket is subscribed to the context already; unsubscribe first");
    }
    if (open.size() == MAX) {
      throw new Rejection.Busy(
          "too-many-subscriptions", "a socket can subscribe to at most " + MAX + " contexts");
    }
    var contextSubscription = new ContextSubscription(parts.streamDependencies(), wanted, turn);
    var thread =
        Thread.ofVirtual()
            .name("follow-" + context)
            .unstarted(() -> follow(context, contextSubscription, wish.id()));
    open.put(context, new OpenSubscription(contextSubscription, thread));
    thread.start();
  }

  private void follow(
      ContextId context, ContextSubscription contextSubscription, @Nullable JsonNode id) {
    try (contextSubscription) {
      var deleted = contextSubscription.run(new SocketEventSender(context, id));
      if (deleted && open.remove(context) != null) {
        send(positionMessage("unsubscribed", null, context, contextSubscription.position()));
      }
    } catch (IOException | InterruptedException gone) {
      // The receiving thread detects the disconnect, too, and ends all subscriptions.
      LOG.log(Level.DEBUG, "a client disconnected", gone);
    } catch (RuntimeException wrong) { // This is the root of a thread: one for each subscription.
      LOG.log(Level.ERROR, "the subscription to context " + context + " failed", wrong);
      webSocketConnection.close(1011, "the server failed; see its log");
    }
  }

  private void unsubscribe(SocketCommand wish) throws IOException, InterruptedException {
    wish.checkFields("contextId");
    var context = wish.context();
    var openSubscription = open.remove(context);
    if (openSubscription == null) {
      throw notSubscribed();
    }
    openSubscription.follower().end();
    // The events that it is sending precede the confirmation.
    openSubscription.thread().join();
    send(
        positionMessage(
            "unsubscribed", wish.id(), context, openSubscription.follower().position()));
  }

  private void acknowledge(SocketCommand wish) {
    wish.checkFields("contextId", "position");
    var openSubscription = open.get(wish.context());
    if (openSubscription == null) {
      throw notSubscribed();
    }
    openSubscription.follower().acknowledge(wish.position());
  }

  private static Rejection notSubscribed() {
    return new Rejection.Conflict("not-subscribed", "this socket is not subscribed to the context");
  }

  /// Sends the events of one context to the client.
  private final class SocketEventSender implements ContextSubscription.SubscriptionListener {
    private final ContextId context;
    private final @Nullable JsonNode id;
    private final String prefix;

    SocketEventSender(ContextId context, @Nullable JsonNode id) {
      this.context = context;
      this.id = id;
      // A context's id needs no escapes.
      this.prefix = "{\"type\":\"event\",\"contextId\":\"" + context + "\",\"position\":";
    }

    @Override
    public void opened(Position position) throws IOException, InterruptedException {
      var heartbeat = parts.streamDependencies().heartbeat().toMillis();
      send(positionMessage("subscribed", id, context, position).put("heartbeatMs", heartbeat));
    }

    @Override
    public void gap(Position position, String reason, String requested)
        throws IOException, InterruptedException {
      var gap = positionMessage("gap", null, context, position).put("reason", reason);
      if (!requested.isEmpty()) {
        gap.put("requested", requested);
      }
      send(gap);
    }

    @Override
    public void events(List<ContextSubscription.EncodedEvent> events)
        throws IOException, InterruptedException {
      webSocketConnection.send(
          List.of(EncodedFrames.of(events.stream().map(this::event).toList())));
    }

    private String event(ContextSubscription.EncodedEvent event) {
      var position = Json.mapper().writeValueAsString(event.position());
      return prefix + position + ",\"event\":" + event.json() + "}";
    }

    @Override
    public void heartbeat(Position position) throws IOException, InterruptedException {
      send(positionMessage("heartbeat", null, context, position));
    }
  }

  private void send(ObjectNode message) throws IOException, InterruptedException {
    webSocketConnection.send(message.toString());
  }

  private static ObjectNode message(String type, @Nullable JsonNode id) {
    var message = Json.object().put("type", type);
    if (id != null) {
      message.set("id", id);
    }
    return message;
  }

  private static ObjectNode positionMessage(
      String type, @Nullable JsonNode id, ContextId context, Position position) {
    var message = message(type, id).put("contextId", context.value());
    message.set("position", Json.mapper().valueToTree(position));
    return message;
  }

  private static ObjectNode error(
      Rejection refused, @Nullable JsonNode id, @Nullable JsonNode context) {
    var error = message("error", id);
    if (context != null && context.isString()) {
      error.set("contextId", context);
    }
    var problem = Problem.of(refused);
    return error
        .put("code", problem.code())
        .put("status", problem.status())
        .put("detail", problem.detail());
  }
}
