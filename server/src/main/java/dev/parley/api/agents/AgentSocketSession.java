package dev.parley.api.agents;

import dev.parley.http.ApiDependencies;
import dev.parley.http.OpenStreams;
import dev.parley.protocol.Id;
import dev.parley.protocol.Json;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.TaskId;
import dev.parley.socketio.SocketPeer;
import dev.parley.socketio.SocketSession;
import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// The session of one socket client, with its subscriptions to agents.
///
/// Each subscription has its own reader thread, with a position in the log and no queue. The
/// monitor guards the readers.
final class AgentSocketSession implements SocketSession {

  /// How many agents one connection may subscribe to at the same time.
  static final int SUBSCRIPTIONS_MAX = 100;

  private final ApiDependencies parts;
  private final AgentLookup agents;
  private final MessageBatchCache batches;
  private final AgentNotifications notifications;
  private final SocketPeer socketPeer;
  private final Map<TaskId, SubscriptionThread> readers = new HashMap<>();
  private OpenStreams.@Nullable StreamSlot listSlot;
  private boolean ended;

  /// A thread that sends the events of one agent. `open` ends it.
  private record SubscriptionThread(OpenStreams.StreamSlot open, Thread thread) {

    /// Ends the thread, and returns when it has ended.
    void end() {
      open.end();
      try {
        thread.join();
      } catch (InterruptedException told) {
        Thread.currentThread().interrupt();
      }
    }
  }

  AgentSocketSession(
      ApiDependencies parts,
      AgentLookup agents,
      MessageBatchCache messageBatchCache,
      AgentNotifications agentNotifications,
      SocketPeer socketPeer) {
    this.parts = parts;
    this.agents = agents;
    this.batches = messageBatchCache;
    this.notifications = agentNotifications;
    this.socketPeer = socketPeer;
  }

  /// Starts to send the events about all agents.
  void startWatching() {
    // Called first: if it fails, no slot is taken.
    var from = notifications.end();
    var streamSlot = parts.streamDependencies().streams().open();
    synchronized (this) {
      listSlot = streamSlot;
    }
    Thread.ofVirtual()
        .name("agents-watch")
        .start(new AgentListSubscription(parts, notifications, socketPeer, streamSlot, from));
  }

  @Override
  public JsonNode onEvent(String event, JsonNode argument) {
    var agent = argument.path("agentId").asString("");
    try {
      return switch (event) {
        case "subscribe" -> subscribe(id(argument), since(argument));
        case "unsubscribe" -> unsubscribe(id(argument));
        default ->
            throw new Rejection.Invalid(
                "unknown-event", "unknown event " + event + ": send subscribe or unsubscribe");
      };
    } catch (Rejection refused) {
      var error = Json.object().put("event", event).put("code", refused.code());
      error.put("message", refused.getMessage()).put("agentId", agent);
      emit("error", error);
      return Json.object()
          .put("ok", false)
          .put("code", refused.code())
          .put("error", refused.getMessage());
    }
  }

  private static TaskId id(JsonNode argument) {
    var agent = argument.path("agentId").asString("");
    if (!Id.valid(agent)) {
      throw new Rejection.Invalid(
          agent.isEmpty()
              ? "agentId is missing: send {\"agentId\": \"…\"}"
              : "agentId is not the id of an agent");
    }
    return new TaskId(agent);
  }

  private static long since(JsonNode argument) {
    var since = argument.path("since");
    if (since.isMissingNode() || since.isNull()) {
      return 0;
    }
    if (!since.isIntegralNumber() || !since.canConvertToLong() || since.asLong() < 0) {
      throw new Rejection.Invalid("since must be a whole number of at least 0");
    }
    return since.asLong();
  }

  private JsonNode subscribe(TaskId id, long since) {
    var agent = agents.find(socketPeer.principal(), id);
    var streamSlot = parts.streamDependencies().streams().open();
    var agentSubscription =
        new AgentSubscription(parts, batches, socketPeer, streamSlot, agent, since);
    var thread =
        Thread.ofVirtual()
            .name("agents-reader")
            .unstarted(
                () -> {
                  agentSubscription.run();
                  removeReader(id);
                });
    SubscriptionThread before;
    synchronized (this) {
      if (ended || (readers.size() >= SUBSCRIPTIONS_MAX && !readers.containsKey(id))) {
        streamSlot.close();
        throw new Rejection.Busy(
            "too-many-subscriptions",
            "the limit of a connection is " + SUBSCRIPTIONS_MAX + " agents");
      }
      before = readers.put(id, new SubscriptionThread(streamSlot, thread));
    }
    if (before != null) {
      before.end();
    }
    var status = AgentStatus.of(agent.task().status()).wire();
    emit("subscribed", about(id).put("status", status).put("messageCount", agent.numbers()));
    thread.start();
    return Json.object().put("ok", true).put("agentId", id.value()).put("status", status);
  }

  /// The reader on this thread has ended.
  private synchronized void removeReader(TaskId id) {
    var subscriptionThread = readers.get(id);
    if (subscriptionThread != null && subscriptionThread.thread().equals(Thread.currentThread())) {
      readers.remove(id);
    }
  }

  private JsonNode unsubscribe(TaskId id) {
    SubscriptionThread subscriptionThread;
    synchronized (this) {
      subscriptionThread = readers.remove(id);
    }
    if (subscriptionThread != null) {
      subscriptionThread.end();
    }
    emit("unsubscribed", about(id));
    return Json.object().put("ok", true).put("agentId", id.value());
  }

  @Override
  public synchronized void onDisconnect() {
    ended = true;
    readers.values().forEach(subscriptionThread -> subscriptionThread.open().end());
    readers.clear();
    if (listSlot != null) {
      listSlot.end();
    }
  }

  private ObjectNode about(TaskId agent) {
    return AgentSocketSessionFactory.timestamped(parts.clock()).put("agentId", agent.value());
  }

  private void emit(String event, ObjectNode argument) {
    try {
      socketPeer.emit(event, argument);
    } catch (IOException left) {
      // The connection ends this session.
    } catch (InterruptedException told) {
      Thread.currentThread().interrupt();
    }
  }
}
