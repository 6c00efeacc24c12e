package dev.parley.door.agents;

import dev.parley.door.DoorParts;
import dev.parley.door.Streams;
import dev.parley.door.Stride;
import dev.parley.protocol.Entry;
import dev.parley.protocol.Json;
import dev.parley.protocol.Position;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.ReportEvent.ErrorReported;
import dev.parley.protocol.ReportEvent.ErrorScope;
import dev.parley.protocol.TaskEvent.TaskComplete;
import dev.parley.protocol.TaskEvent.TaskStatus;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.Timestamps;
import dev.parley.socket.Peer;
import dev.parley.socket.Volley;
import dev.parley.view.RootView;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// Sends the messages of one agent to a peer: past ones from a number on, and then new ones, until
/// the agent ends.
///
/// It reads from the log, so it sends only durable events. A slow peer does not delay others. A
/// peer that falls too far behind gets a gap event, and continues at the end of the log.
final class Subscription implements Runnable {

  /// How many events a peer may be behind after it has caught up once.
  static final int BEHIND_MAX = 10_000;

  private static final System.Logger LOG = System.getLogger(Subscription.class.getName());
  private static final Duration FOR_EVER = Duration.ofDays(1);
  private static final Duration PAUSE = Duration.ofSeconds(1);

  private final DoorParts parts;
  private final Passages passages;
  private final Peer peer;
  private final Streams.Open open;
  private final RootView agent;
  private final TaskId id;
  private final boolean raw;
  private final Stride stride = new Stride();
  private final Deque<Passage.Part> untold = new ArrayDeque<>();
  private Telling.@Nullable Place place;
  private long since;
  private long told;
  private boolean caughtUp;
  private @Nullable AgentStatus status;

  Subscription(
      DoorParts parts,
      Passages passages,
      Peer peer,
      Streams.Open open,
      RootView agent,
      long since) {
    this.parts = parts;
    this.passages = passages;
    this.peer = peer;
    this.open = open;
    this.agent = agent;
    this.id = agent.task().taskId();
    this.since = since;
    this.told = since;
    this.raw = parts.access().mayReadInternal(peer.principal());
  }

  @Override
  public void run() {
    try (open) {
      var more = true;
      while (more && !open.ended()) {
        more = follow();
      }
    } catch (IOException | Rejection.NotFound | Rejection.Gone left) {
      // The peer has disconnected, or the agent was deleted, which another event reports.
    } catch (InterruptedException told) {
      Thread.currentThread().interrupt();
    } catch (Exception failed) { // This is the root of a thread.
      LOG.log(Level.ERROR, "cannot send events of agent " + id + " to " + peer.id(), failed);
    }
  }

  /// Sends the next items. False after the agent's end.
  private boolean follow() throws IOException, InterruptedException {
    try {
      var from = place == null ? begin() : place;
      place = from;
      return advance(from);
    } catch (Rejection.Unavailable later) {
      // Unsent items are sent after the pause.
      open.pause(PAUSE);
      return true;
    }
  }

  /// A peer whose number does not exist yet gets a gap event, and continues at the end of the log.
  private Telling.Place begin() throws IOException, InterruptedException {
    var last = parts.views().roots().last(agent.task().contextId(), id).number();
    if (since > last) {
      peer.emit("agent:gap", about().put("from", last).put("to", last + 1));
      since = last;
      told = last;
    }
    return Telling.Place.of(parts.views().roots(), agent.task().contextId(), id, since);
  }

  private boolean advance(Telling.Place from) throws IOException, InterruptedException {
    var reached = from;
    if (untold.isEmpty()) {
      var passage = passages.after(from, stride, raw);
      untold.addAll(passage.parts());
      reached = passage.end();
      place = reached;
      if (reached.equals(from)) {
        caughtUp = true;
        open.await(() -> parts.log().await(from.context(), from.position(), FOR_EVER));
      }
    }
    for (var part = untold.peek(); part != null && !open.ended(); part = untold.peek()) {
      if (!tell(part)) {
        return false;
      }
      untold.remove();
    }
    if (caughtUp
        && parts.log().head(from.context()).seq() - reached.position().seq() > BEHIND_MAX) {
      skip(reached);
    }
    return true;
  }

  /// Skips all but the last message; the peer can request the others. Never moves backward: if
  /// there is nothing to skip, it reads on.
  private void skip(Telling.Place from) throws IOException, InterruptedException {
    var last = parts.views().roots().last(agent.task().contextId(), id);
    if (last.number() - 1 > told && last.seq() - 1 > from.position().seq()) {
      since = last.number() - 1;
      peer.emit("agent:gap", about().put("from", told).put("to", last.number()));
      place = from.at(Position.of(last.seq() - 1), since);
    }
  }

  /// Sends an item. False if it is the agent's end.
  private boolean tell(Passage.Part part) throws IOException, InterruptedException {
    return switch (part) {
      case Passage.Part.Said(var volley, var last) -> {
        tell(volley, last);
        yield true;
      }
      case Passage.Part.Happened(var entry, var number) -> tell(entry, number);
    };
  }

  private void tell(Volley volley, long last) throws IOException, InterruptedException {
    var known = since - last + volley.arguments().size();
    if (last > since) {
      peer.emitAll(known > 0 ? volley.without((int) known) : volley);
      told = last;
    }
  }

  private boolean tell(Entry entry, long number) throws IOException, InterruptedException {
    var end = end(entry);
    if (entry.event() instanceof TaskStatus now && (end != null || number >= since)) {
      tell(AgentStatus.of(now.status()));
    }
    if (entry.event() instanceof ErrorReported error
        && error.scope() == ErrorScope.TASK
        && number > since) {
      tell(error);
    }
    if (end != null) {
      tell(end);
      complete(end, entry.timestamp(), number);
    }
    return end == null;
  }

  private static @Nullable AgentStatus end(Entry entry) {
    return switch (entry.event()) {
      case TaskComplete _ -> AgentStatus.COMPLETED;
      case TaskStatus now
          when now.status() == TaskState.FAILED || now.status() == TaskState.CANCELED ->
          AgentStatus.of(now.status());
      default -> null; // Nothing else ends a task.
    };
  }

  private void tell(AgentStatus now) throws IOException, InterruptedException {
    if (now != status) {
      status = now;
      peer.emit("agent:status", about().put("status", now.wire()));
    }
  }

  private void tell(ErrorReported error) throws IOException, InterruptedException {
    var about = about();
    about.putObject("error").put("message", error.message()).put("name", error.code().wire());
    peer.emit("agent:error", about);
  }

  private void complete(AgentStatus end, Instant at, long messages)
      throws IOException, InterruptedException {
    var duration = Duration.between(agent.task().createdAt(), at).toMillis();
    var result = Json.object().put("status", end.result()).put("duration", duration);
    var about = about();
    about.set("result", result.put("messageCount", messages));
    peer.emit("agent:complete", about);
  }

  private ObjectNode about() {
    return Json.object()
        .put("agentId", id.value())
        .put("timestamp", Timestamps.format(parts.clock().instant()));
  }
}
