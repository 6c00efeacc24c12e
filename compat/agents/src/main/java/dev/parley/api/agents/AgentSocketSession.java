package dev.parley.api.agents;

import dev.parley.api.ApiDependencies;
import dev.parley.api.agents.AgentInfo.AgentStatus;
import dev.parley.api.agents.SocketArgument.AckArgument;
import dev.parley.api.agents.SocketArgument.NoticeArgument;
import dev.parley.api.agents.SocketArgument.RejectionArgument;
import dev.parley.http.OpenStreams;
import dev.parley.identity.Action;
import dev.parley.protocol.Id;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.TaskId;
import dev.parley.socketio.SocketPeer;
import dev.parley.socketio.SocketSession;
import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

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

  /// Greets the client, and starts to send the events about all agents.
  void start() {
    if (!emit("connected", NoticeArgument.connected(parts.time().instant(), socketPeer.id()))) {
      return;
    }
    // Called first: if it fails, no slot is taken.
    var from = notifications.end();
    var streamSlot = parts.streamDependencies().streams().open();
    synchronized (this) {
      listSlot = streamSlot;
    }
    parts
        .threads()
        .start(
            "agents-list",
            new AgentListSubscription(parts, notifications, socketPeer, streamSlot, from));
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
      var message = refused.getMessage();
      emit("error", new RejectionArgument(event, refused.code(), message, agent));
      return AckArgument.rejected(refused.code(), message).json();
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
    var agent = agents.find(socketPeer.caller(), Action.READ, id);
    var streamSlot = parts.streamDependencies().streams().open();
    var agentSubscription =
        new AgentSubscription(parts, batches, socketPeer, streamSlot, agent, since);
    var thread =
        parts
            .threads()
            .unstarted(
                "agents-reader",
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
    var status = AgentStatus.of(agent.task().status());
    emit("subscribed", notice(id).with(status, agent.numbers()));
    thread.start();
    return AckArgument.accepted(id, status).json();
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
    emit("unsubscribed", notice(id));
    return AckArgument.accepted(id, null).json();
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

  private NoticeArgument notice(TaskId agent) {
    return NoticeArgument.of(parts.time().instant(), agent.value());
  }

  /// False if the client has disconnected, which ends this session.
  private boolean emit(String event, SocketArgument argument) {
    try {
      socketPeer.emit(event, argument.json());
      return true;
    } catch (IOException left) {
      return false;
    } catch (InterruptedException told) {
      Thread.currentThread().interrupt();
      return false;
    }
  }
}
