package dev.parley.door.agents;

import dev.parley.door.DoorParts;
import dev.parley.door.Streams;
import dev.parley.protocol.Id;
import dev.parley.protocol.Json;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.TaskId;
import dev.parley.socket.Peer;
import dev.parley.socket.Visit;
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
final class AgentVisit implements Visit {

  /// How many agents one connection may subscribe to at the same time.
  static final int SUBSCRIPTIONS_MAX = 100;

  private final DoorParts parts;
  private final AgentLookup agents;
  private final Passages passages;
  private final News news;
  private final Peer peer;
  private final Map<TaskId, Reader> readers = new HashMap<>();
  private Streams.@Nullable Open watch;
  private boolean ended;

  /// A thread that sends the events of one agent. `open` ends it.
  private record Reader(Streams.Open open, Thread thread) {

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

  AgentVisit(DoorParts parts, AgentLookup agents, Passages passages, News news, Peer peer) {
    this.parts = parts;
    this.agents = agents;
    this.passages = passages;
    this.news = news;
    this.peer = peer;
  }

  /// Starts to send the events about all agents.
  void watch() {
    // Called first: if it fails, no slot is taken.
    var from = news.end();
    var open = parts.tails().streams().open();
    synchronized (this) {
      watch = open;
    }
    Thread.ofVirtual().name("agents-watch").start(new Watch(parts, news, peer, open, from));
  }

  @Override
  public JsonNode hear(String event, JsonNode argument) {
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
    var agent = agents.find(peer.principal(), id);
    var open = parts.tails().streams().open();
    var subscription = new Subscription(parts, passages, peer, open, agent, since);
    var thread =
        Thread.ofVirtual()
            .name("agents-reader")
            .unstarted(
                () -> {
                  subscription.run();
                  over(id);
                });
    Reader before;
    synchronized (this) {
      if (ended || (readers.size() >= SUBSCRIPTIONS_MAX && !readers.containsKey(id))) {
        open.close();
        throw new Rejection.Busy(
            "too-many-subscriptions",
            "the limit of a connection is " + SUBSCRIPTIONS_MAX + " agents");
      }
      before = readers.put(id, new Reader(open, thread));
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
  private synchronized void over(TaskId id) {
    var reader = readers.get(id);
    if (reader != null && reader.thread().equals(Thread.currentThread())) {
      readers.remove(id);
    }
  }

  private JsonNode unsubscribe(TaskId id) {
    Reader reader;
    synchronized (this) {
      reader = readers.remove(id);
    }
    if (reader != null) {
      reader.end();
    }
    emit("unsubscribed", about(id));
    return Json.object().put("ok", true).put("agentId", id.value());
  }

  @Override
  public synchronized void end() {
    ended = true;
    readers.values().forEach(reader -> reader.open().end());
    readers.clear();
    if (watch != null) {
      watch.end();
    }
  }

  private ObjectNode about(TaskId agent) {
    return AgentVisits.stamped(parts.clock()).put("agentId", agent.value());
  }

  private void emit(String event, ObjectNode argument) {
    try {
      peer.emit(event, argument);
    } catch (IOException left) {
      // The connection ends this session.
    } catch (InterruptedException told) {
      Thread.currentThread().interrupt();
    }
  }
}
