package dev.parley.api.contexts;

import dev.parley.api.ApiDependencies;
import dev.parley.http.EncodedFrames;
import dev.parley.http.Metric;
import dev.parley.http.OpenStreams;
import dev.parley.http.Problem;
import dev.parley.http.WebSocketConnection;
import dev.parley.identity.Action;
import dev.parley.identity.Caller;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Json;
import dev.parley.protocol.Position;
import dev.parley.protocol.Rejection;
import dev.parley.stream.ContextSource;
import dev.parley.stream.Subscription;
import dev.parley.stream.WindowedEncoder;
import dev.parley.stream.WindowedEncoder.EncodedEvent;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// The subscriptions of one WebSocket.
///
/// One thread receives; each subscription has a thread that reads the log and sends. The
/// subscriptions share a permit: one with new events acquires it, reads, sends and releases it. So
/// all of them progress, and only one at a time holds events in memory.
final class SocketSubscriptions {

  private static final System.Logger LOG = System.getLogger(SocketSubscriptions.class.getName());
  private static final int MAX = 1_000;

  private final ApiDependencies parts;
  private final Caller caller;
  private final WebSocketConnection connection;
  private final Semaphore turn = new Semaphore(1, true);
  private final Map<ContextId, OpenSubscription> open = new ConcurrentHashMap<>();

  /// A subscription, and what ends and acknowledges it.
  private record OpenSubscription(
      Subscription<Position, List<EncodedEvent>> subscription,
      WindowedEncoder encoder,
      OpenStreams.StreamSlot slot,
      Thread thread) {}

  SocketSubscriptions(ApiDependencies parts, Caller caller, WebSocketConnection connection) {
    this.parts = parts;
    this.caller = caller;
    this.connection = connection;
  }

  /// Handles the client's messages until it disconnects.
  void serve() throws IOException, InterruptedException {
    try {
      for (var text = connection.receive(); text != null; text = connection.receive()) {
        handle(text);
      }
    } finally {
      for (var openSubscription : List.copyOf(open.values())) {
        openSubscription.slot().end();
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
    parts.access().check(caller, Action.READ, context);
    if (wanted.filter().internal()) {
      parts.access().checkInternal(caller);
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
    var dependencies = parts.streamDependencies();
    var encoder = new WindowedEncoder(dependencies, wanted);
    var source = new ContextSource(parts.log(), context);
    var slot = dependencies.streams().open();
    var subscription =
        new Subscription<>(
            new Subscription.Parts<>(
                source,
                encoder,
                new SocketEventSender(context, wish.id(), encoder),
                slot,
                parts.time(),
                dependencies.heartbeat()),
            wanted.after());
    slot.describe(OpenStreams.StreamKind.SUBSCRIPTION, () -> source.lag(subscription.cursor()));
    var thread =
        parts
            .threads()
            .unstarted("socket-subscription-" + context, () -> follow(context, subscription, slot));
    open.put(context, new OpenSubscription(subscription, encoder, slot, thread));
    thread.start();
  }

  private void follow(
      ContextId context,
      Subscription<Position, List<EncodedEvent>> subscription,
      OpenStreams.StreamSlot slot) {
    try (slot) {
      if (subscription.run() && open.remove(context) != null) {
        send(positionMessage("unsubscribed", null, context, subscription.cursor()));
      }
    } catch (IOException | InterruptedException gone) {
      // The receiving thread detects the disconnect, too, and ends all subscriptions.
      LOG.log(Level.DEBUG, "a client disconnected", gone);
    } catch (RuntimeException wrong) { // This is the root of a thread: one for each subscription.
      LOG.log(Level.ERROR, "the subscription to context " + context + " failed", wrong);
      connection.close(1011, "the server failed; see its log");
    }
  }

  private void unsubscribe(SocketCommand wish) throws IOException, InterruptedException {
    wish.checkFields("contextId");
    var context = wish.context();
    var openSubscription = open.remove(context);
    if (openSubscription == null) {
      throw notSubscribed();
    }
    openSubscription.slot().end();
    // The events that it is sending precede the confirmation.
    openSubscription.thread().join();
    send(
        positionMessage(
            "unsubscribed", wish.id(), context, openSubscription.subscription().cursor()));
  }

  private void acknowledge(SocketCommand wish) {
    wish.checkFields("contextId", "position");
    var openSubscription = open.get(wish.context());
    if (openSubscription == null) {
      throw notSubscribed();
    }
    openSubscription.encoder().acknowledge(wish.position());
  }

  private static Rejection notSubscribed() {
    return new Rejection.Conflict("not-subscribed", "this socket is not subscribed to the context");
  }

  /// Sends the events of one context to the client.
  private final class SocketEventSender implements Subscription.Sink<Position, List<EncodedEvent>> {
    private final ContextId context;
    private final @Nullable JsonNode id;
    private final WindowedEncoder encoder;
    private final String prefix;

    SocketEventSender(ContextId context, @Nullable JsonNode id, WindowedEncoder encoder) {
      this.context = context;
      this.id = id;
      this.encoder = encoder;
      // A context's id needs no escapes.
      this.prefix = "{\"type\":\"event\",\"contextId\":\"" + context + "\",\"position\":";
    }

    @Override
    public boolean open(Position start) throws IOException, InterruptedException {
      var dependencies = parts.streamDependencies();
      var head = parts.log().head(context);
      dependencies.countReplay(start, head);
      var heartbeat = dependencies.heartbeat().toMillis();
      var subscribed = positionMessage("subscribed", id, context, start);
      subscribed.put("heartbeatMs", heartbeat).set("head", json(head));
      SocketSubscriptions.this.send(subscribed);
      return true;
    }

    @Override
    public void gap(Position position, Position requested)
        throws IOException, InterruptedException {
      sendGap(position, "ahead-of-head", requested.toString());
    }

    @Override
    public void deleted(Position position) throws IOException, InterruptedException {
      sendGap(position, "deleted", "");
    }

    private void sendGap(Position position, String reason, String requested)
        throws IOException, InterruptedException {
      parts.streamDependencies().countGap(reason);
      var gap = positionMessage("gap", null, context, position).put("reason", reason);
      if (!requested.isEmpty()) {
        gap.put("requested", requested);
      }
      SocketSubscriptions.this.send(gap);
    }

    @Override
    public void send(List<EncodedEvent> events) throws IOException, InterruptedException {
      connection.send(List.of(EncodedFrames.of(events.stream().map(this::event).toList())));
      parts.streamDependencies().metrics().counter(Metric.SOCKET_EVENTS).add(events.size());
    }

    private String event(EncodedEvent event) {
      var position = Json.mapper().writeValueAsString(event.position());
      return prefix + position + ",\"event\":" + event.json() + "}";
    }

    @Override
    public void heartbeat(Position position) throws IOException, InterruptedException {
      SocketSubscriptions.this.send(positionMessage("heartbeat", null, context, position));
    }

    @Override
    public boolean awaitRoom(Duration patience) throws InterruptedException {
      return encoder.awaitRoom(parts.time(), patience);
    }

    @Override
    public void acquire() throws InterruptedException {
      turn.acquire();
    }

    @Override
    public void release() {
      turn.release();
    }
  }

  private void send(ObjectNode message) throws IOException, InterruptedException {
    connection.send(message.toString());
  }

  private static ObjectNode message(String type, @Nullable JsonNode id) {
    var message = Json.object().put("type", type);
    Json.putPresent(message, "id", id);
    return message;
  }

  private static ObjectNode positionMessage(
      String type, @Nullable JsonNode id, ContextId context, Position position) {
    var message = message(type, id).put("contextId", context.value());
    message.set("position", json(position));
    return message;
  }

  private static JsonNode json(Position position) {
    return Json.mapper().valueToTree(position);
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
