package dev.parley.door.contexts;

import dev.parley.door.DoorParts;
import dev.parley.door.Follower;
import dev.parley.door.Parcel;
import dev.parley.door.Problem;
import dev.parley.door.Socket;
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
final class Subscriptions {

  private static final System.Logger LOG = System.getLogger(Subscriptions.class.getName());
  private static final int MAX = 1_000;

  private final DoorParts parts;
  private final String principal;
  private final Socket socket;
  private final Semaphore turn = new Semaphore(1, true);
  private final Map<ContextId, Subscription> open = new ConcurrentHashMap<>();

  private record Subscription(Follower follower, Thread thread) {}

  Subscriptions(DoorParts parts, String principal, Socket socket) {
    this.parts = parts;
    this.principal = principal;
    this.socket = socket;
  }

  /// Handles the client's messages until it disconnects.
  void serve() throws IOException, InterruptedException {
    try {
      for (var text = socket.receive(); text != null; text = socket.receive()) {
        hear(text);
      }
    } finally {
      for (var subscription : List.copyOf(open.values())) {
        subscription.follower().end();
      }
      for (var subscription : List.copyOf(open.values())) {
        subscription.thread().join();
      }
    }
  }

  private void hear(String text) throws IOException, InterruptedException {
    @Nullable SocketWish wish = null;
    try {
      wish = SocketWish.read(text);
      switch (wish.type()) {
        case "subscribe" -> subscribe(wish);
        case "unsubscribe" -> unsubscribe(wish);
        case "ack" -> acknowledge(wish);
        case "ping" -> {
          wish.allow();
          send(message("pong", wish.id()));
        }
        default -> throw new Rejection.Invalid("type must be subscribe, unsubscribe, ack or ping");
      }
    } catch (Rejection refused) {
      var context = wish == null ? null : wish.fields().get("contextId");
      send(error(refused, wish == null ? null : wish.id(), context));
    }
  }

  private void subscribe(SocketWish wish) {
    var wanted = wish.follow(parts.views());
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
    var follower = new Follower(parts.tails(), wanted, turn);
    var thread =
        Thread.ofVirtual()
            .name("follow-" + context)
            .unstarted(() -> follow(context, follower, wish.id()));
    open.put(context, new Subscription(follower, thread));
    thread.start();
  }

  private void follow(ContextId context, Follower follower, @Nullable JsonNode id) {
    try (follower) {
      var deleted = follower.run(new Told(context, id));
      if (deleted && open.remove(context) != null) {
        send(place("unsubscribed", null, context, follower.position()));
      }
    } catch (IOException | InterruptedException gone) {
      // The receiving thread detects the disconnect, too, and ends all subscriptions.
      LOG.log(Level.DEBUG, "a client disconnected", gone);
    } catch (RuntimeException wrong) { // This is the root of a thread: one for each subscription.
      LOG.log(Level.ERROR, "the subscription to context " + context + " failed", wrong);
      socket.close(1011, "the server failed; see its log");
    }
  }

  private void unsubscribe(SocketWish wish) throws IOException, InterruptedException {
    wish.allow("contextId");
    var context = wish.context();
    var subscription = open.remove(context);
    if (subscription == null) {
      throw notSubscribed();
    }
    subscription.follower().end();
    // The events that it is sending precede the confirmation.
    subscription.thread().join();
    send(place("unsubscribed", wish.id(), context, subscription.follower().position()));
  }

  private void acknowledge(SocketWish wish) {
    wish.allow("contextId", "position");
    var subscription = open.get(wish.context());
    if (subscription == null) {
      throw notSubscribed();
    }
    subscription.follower().acknowledge(wish.position());
  }

  private static Rejection notSubscribed() {
    return new Rejection.Conflict("not-subscribed", "this socket is not subscribed to the context");
  }

  /// Sends the events of one context to the client.
  private final class Told implements Follower.Listener {
    private final ContextId context;
    private final @Nullable JsonNode id;
    private final String prefix;

    Told(ContextId context, @Nullable JsonNode id) {
      this.context = context;
      this.id = id;
      // A context's id needs no escapes.
      this.prefix = "{\"type\":\"event\",\"contextId\":\"" + context + "\",\"position\":";
    }

    @Override
    public void opened(Position position) throws IOException, InterruptedException {
      var heartbeat = parts.tails().heartbeat().toMillis();
      send(place("subscribed", id, context, position).put("heartbeatMs", heartbeat));
    }

    @Override
    public void gap(Position position, String reason, String requested)
        throws IOException, InterruptedException {
      var gap = place("gap", null, context, position).put("reason", reason);
      if (!requested.isEmpty()) {
        gap.put("requested", requested);
      }
      send(gap);
    }

    @Override
    public void events(List<Follower.Told> events) throws IOException, InterruptedException {
      socket.send(List.of(Parcel.of(events.stream().map(this::event).toList())));
    }

    private String event(Follower.Told event) {
      var position = Json.mapper().writeValueAsString(event.position());
      return prefix + position + ",\"event\":" + event.json() + "}";
    }

    @Override
    public void heartbeat(Position position) throws IOException, InterruptedException {
      send(place("heartbeat", null, context, position));
    }
  }

  private void send(ObjectNode message) throws IOException, InterruptedException {
    socket.send(message.toString());
  }

  private static ObjectNode message(String type, @Nullable JsonNode id) {
    var message = Json.object().put("type", type);
    if (id != null) {
      message.set("id", id);
    }
    return message;
  }

  private static ObjectNode place(
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
