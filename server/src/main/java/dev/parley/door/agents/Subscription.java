package dev.parley.door.agents;

import dev.parley.door.DoorParts;
import dev.parley.door.Streams;
import dev.parley.protocol.Entry;
import dev.parley.protocol.Json;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.ReportEvent.ErrorReported;
import dev.parley.protocol.ReportEvent.ErrorScope;
import dev.parley.protocol.TaskEvent.TaskComplete;
import dev.parley.protocol.TaskEvent.TaskStatus;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.Timestamps;
import dev.parley.socket.Peer;
import dev.parley.view.RootView;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// Tells a peer what one agent does: what it did, from a number on, and then what it does, until its end.
///
/// The log is where it reads, so nothing is told that is not durable. A peer that reads slowly keeps nobody
/// waiting; one that falls too far behind is told so, and goes on at the end.
final class Subscription implements Runnable {

  /// How many events a peer that has once caught up may be behind.
  static final int BEHIND_MAX = 10_000;

  private static final System.Logger LOG = System.getLogger(Subscription.class.getName());
  private static final Duration FOR_EVER = Duration.ofDays(1);
  private static final Duration PAUSE = Duration.ofSeconds(1);

  private final DoorParts parts;
  private final MessageTexts texts;
  private final Peer peer;
  private final Streams.Open open;
  private final RootView agent;
  private final TaskId id;
  private final Deque<Telling.Step> untold = new ArrayDeque<>();
  private @Nullable Telling telling;
  private long since;
  private long told;
  private boolean caughtUp;
  private @Nullable AgentStatus status;

  Subscription(
      DoorParts parts,
      MessageTexts texts,
      Peer peer,
      Streams.Open open,
      RootView agent,
      long since) {
    this.parts = parts;
    this.texts = texts;
    this.peer = peer;
    this.open = open;
    this.agent = agent;
    this.id = agent.task().taskId();
    this.since = since;
    this.told = since;
  }

  @Override
  public void run() {
    try (open) {
      var more = true;
      while (more && !open.ended()) {
        more = follow();
      }
    } catch (IOException | Rejection.NotFound | Rejection.Gone left) {
      // The peer has left, or the agent was deleted, which everybody is told.
    } catch (InterruptedException told) {
      Thread.currentThread().interrupt();
    } catch (Exception failed) { // This is the root of a thread.
      LOG.log(Level.ERROR, "cannot tell " + peer.id() + " of agent " + id, failed);
    }
  }

  /// Tells some of what is next. False after the agent's end.
  private boolean follow() throws IOException, InterruptedException {
    try {
      var from = telling == null ? begin() : telling;
      telling = from;
      return advance(from);
    } catch (Rejection.Unavailable later) {
      // What was not told yet is told then.
      open.pause(PAUSE);
      return true;
    }
  }

  /// A peer that asks for what does not exist is told so, and goes on at the end.
  private Telling begin() throws IOException, InterruptedException {
    var last = parts.views().roots().last(agent.task().contextId(), id).number();
    if (since > last) {
      peer.emit("agent:gap", about().put("from", last).put("to", last + 1));
      since = last;
      told = last;
    }
    return new Telling(
        parts.tails().cache()::entries, parts.views().roots(), agent.task().contextId(), id, since);
  }

  private boolean advance(Telling from) throws IOException, InterruptedException {
    var context = agent.task().contextId();
    if (untold.isEmpty()) {
      untold.addAll(from.read());
    }
    if (untold.isEmpty()) {
      caughtUp = true;
      open.await(() -> parts.log().await(context, from.position(), FOR_EVER));
    }
    for (var step = untold.peek(); step != null && !open.ended(); step = untold.peek()) {
      if (!tell(step)) {
        return false;
      }
      untold.remove();
    }
    if (caughtUp && parts.log().head(context).seq() - from.position().seq() > BEHIND_MAX) {
      skip(from);
    }
    return true;
  }

  /// Leaves out all but the last message; the peer can ask for the others. Only ever goes forward: if
  /// there is nothing to leave out, reading on is all that helps.
  private void skip(Telling from) throws IOException, InterruptedException {
    var last = parts.views().roots().last(agent.task().contextId(), id);
    if (last.number() - 1 > told && last.seq() - 1 > from.position().seq()) {
      since = last.number() - 1;
      peer.emit("agent:gap", about().put("from", told).put("to", last.number()));
      from.jump(since, last.seq() - 1);
    }
  }

  /// Tells what the step is about. False if it is the agent's end.
  private boolean tell(Telling.Step step) throws IOException, InterruptedException {
    var entry = step.entry();
    if (step.message() && step.number() > since) {
      peer.emitWritten("agent:message", texts.of(id, entry, step.number()));
      told = step.number();
    }
    if (!id.equals(entry.taskId())) {
      return true;
    }
    var end = end(entry);
    if (entry.event() instanceof TaskStatus now && (end != null || step.number() >= since)) {
      tell(AgentStatus.of(now.status()));
    }
    if (entry.event() instanceof ErrorReported error
        && error.scope() == ErrorScope.TASK
        && step.number() > since) {
      tell(error);
    }
    if (end != null) {
      tell(end);
      complete(end, entry.timestamp(), step.number());
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
