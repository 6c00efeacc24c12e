package dev.parley.door.agents;

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

  private final AgentsDoor.Parts parts;
  private final MessageForm form;
  private final Peer peer;
  private final Streams.Open open;
  private final RootView agent;
  private final TaskId id;
  private long since;
  private long told;
  private boolean caughtUp;
  private @Nullable AgentStatus status;

  Subscription(
      AgentsDoor.Parts parts,
      MessageForm form,
      Peer peer,
      Streams.Open open,
      RootView agent,
      long since) {
    this.parts = parts;
    this.form = form;
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
      follow();
    } catch (IOException | Rejection.NotFound | Rejection.Gone left) {
      // The peer has left, or the agent was deleted, which everybody is told.
    } catch (InterruptedException told) {
      Thread.currentThread().interrupt();
    } catch (Exception failed) { // This is the root of a thread.
      LOG.log(Level.ERROR, "cannot tell " + peer.id() + " of agent " + id, failed);
    }
  }

  private void follow() throws IOException, InterruptedException {
    var context = agent.task().contextId();
    var telling = telling();
    while (!open.ended()) {
      var steps = telling.read();
      if (steps.isEmpty()) {
        caughtUp = true;
        var position = telling.position();
        open.await(() -> parts.log().await(context, position, FOR_EVER));
      }
      for (var step : steps) {
        if (open.ended() || !tell(step)) {
          return;
        }
      }
      if (caughtUp && parts.log().head(context).seq() - telling.position().seq() > BEHIND_MAX) {
        telling = skip();
      }
    }
  }

  private Telling telling() {
    return new Telling(parts.log(), parts.views().roots(), agent.task().contextId(), id, since);
  }

  /// Leaves out all but the last message; the peer can ask for the others.
  private Telling skip() throws IOException, InterruptedException {
    since = parts.views().roots().last(agent.task().contextId(), id).number() - 1;
    peer.emit("agent:gap", about().put("from", told).put("to", since + 1));
    return telling();
  }

  /// Tells what the step is about. False if it is the agent's end.
  private boolean tell(Telling.Step step) throws IOException, InterruptedException {
    var entry = step.entry();
    if (step.message() && step.number() > since) {
      var message = about();
      message.set("message", form.json(id, entry, step.number()));
      peer.emit("agent:message", message);
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
