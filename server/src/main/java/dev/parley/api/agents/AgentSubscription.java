package dev.parley.api.agents;

import dev.parley.http.ApiDependencies;
import dev.parley.http.OpenStreams;
import dev.parley.http.ReadSize;
import dev.parley.projection.RootTaskView;
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
import dev.parley.socketio.SocketEventBatch;
import dev.parley.socketio.SocketPeer;
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
final class AgentSubscription implements Runnable {

  /// How many events a peer may be behind after it has caught up once.
  static final int BEHIND_MAX = 10_000;

  private static final System.Logger LOG = System.getLogger(AgentSubscription.class.getName());
  private static final Duration FOR_EVER = Duration.ofDays(1);
  private static final Duration PAUSE = Duration.ofSeconds(1);

  private final ApiDependencies parts;
  private final MessageBatchCache batches;
  private final SocketPeer socketPeer;
  private final OpenStreams.StreamSlot streamSlot;
  private final RootTaskView agent;
  private final TaskId id;
  private final boolean raw;
  private final ReadSize readSize = new ReadSize();
  private final Deque<MessageBatch.BatchItem> unsent = new ArrayDeque<>();
  private NumberedReader.@Nullable NumberedPosition numberedPosition;
  private long since;
  private long sentNumber;
  private boolean caughtUp;
  private @Nullable AgentStatus status;

  AgentSubscription(
      ApiDependencies parts,
      MessageBatchCache messageBatchCache,
      SocketPeer socketPeer,
      OpenStreams.StreamSlot streamSlot,
      RootTaskView agent,
      long since) {
    this.parts = parts;
    this.batches = messageBatchCache;
    this.socketPeer = socketPeer;
    this.streamSlot = streamSlot;
    this.agent = agent;
    this.id = agent.task().taskId();
    this.since = since;
    this.sentNumber = since;
    this.raw = parts.access().mayReadInternal(socketPeer.principal());
  }

  @Override
  public void run() {
    try (streamSlot) {
      var more = true;
      while (more && !streamSlot.ended()) {
        more = follow();
      }
    } catch (IOException | Rejection.NotFound | Rejection.Gone left) {
      // The peer has disconnected, or the agent was deleted, which another event reports.
    } catch (InterruptedException told) {
      Thread.currentThread().interrupt();
    } catch (Exception failed) { // This is the root of a thread.
      LOG.log(Level.ERROR, "cannot send events of agent " + id + " to " + socketPeer.id(), failed);
    }
  }

  /// Sends the next items. False after the agent's end.
  private boolean follow() throws IOException, InterruptedException {
    try {
      var from = numberedPosition == null ? begin() : numberedPosition;
      numberedPosition = from;
      return advance(from);
    } catch (Rejection.Unavailable later) {
      // Unsent items are sent after the pause.
      streamSlot.pause(PAUSE);
      return true;
    }
  }

  /// A peer whose number does not exist yet gets a gap event, and continues at the end of the log.
  private NumberedReader.NumberedPosition begin() throws IOException, InterruptedException {
    var last = parts.views().rootTasks().lastNumber(agent.task().contextId(), id).number();
    if (since > last) {
      socketPeer.emit("agent:gap", about().put("from", last).put("to", last + 1));
      since = last;
      sentNumber = last;
    }
    return NumberedReader.NumberedPosition.of(
        parts.views().rootTasks(), agent.task().contextId(), id, since);
  }

  private boolean advance(NumberedReader.NumberedPosition from)
      throws IOException, InterruptedException {
    var reached = from;
    if (unsent.isEmpty()) {
      var messageBatch = batches.after(from, readSize, raw);
      unsent.addAll(messageBatch.items());
      reached = messageBatch.end();
      numberedPosition = reached;
      if (reached.equals(from)) {
        caughtUp = true;
        streamSlot.await(() -> parts.log().await(from.context(), from.position(), FOR_EVER));
      }
    }
    for (var batchItem = unsent.peek();
        batchItem != null && !streamSlot.ended();
        batchItem = unsent.peek()) {
      if (!send(batchItem)) {
        return false;
      }
      unsent.remove();
    }
    if (caughtUp
        && parts.log().head(from.context()).seq() - reached.position().seq() > BEHIND_MAX) {
      skip(reached);
    }
    return true;
  }

  /// Skips all but the last message; the peer can request the others. Never moves backward: if
  /// there is nothing to skip, it reads on.
  private void skip(NumberedReader.NumberedPosition from) throws IOException, InterruptedException {
    var last = parts.views().rootTasks().lastNumber(agent.task().contextId(), id);
    if (last.number() - 1 > sentNumber && last.seq() - 1 > from.position().seq()) {
      since = last.number() - 1;
      socketPeer.emit("agent:gap", about().put("from", sentNumber).put("to", last.number()));
      numberedPosition = from.at(Position.of(last.seq() - 1), since);
    }
  }

  /// Sends an item. False if it is the agent's end.
  private boolean send(MessageBatch.BatchItem batchItem) throws IOException, InterruptedException {
    return switch (batchItem) {
      case MessageBatch.BatchItem.EncodedMessages(var socketEventBatch, var last) -> {
        send(socketEventBatch, last);
        yield true;
      }
      case MessageBatch.BatchItem.AgentChange(var entry, var number) -> send(entry, number);
    };
  }

  private void send(SocketEventBatch socketEventBatch, long last)
      throws IOException, InterruptedException {
    var known = since - last + socketEventBatch.arguments().size();
    if (last > since) {
      socketPeer.emitAll(known > 0 ? socketEventBatch.without((int) known) : socketEventBatch);
      sentNumber = last;
    }
  }

  private boolean send(Entry entry, long number) throws IOException, InterruptedException {
    var end = end(entry);
    if (entry.event() instanceof TaskStatus now && (end != null || number >= since)) {
      send(AgentStatus.of(now.status()));
    }
    if (entry.event() instanceof ErrorReported error
        && error.scope() == ErrorScope.TASK
        && number > since) {
      send(error);
    }
    if (end != null) {
      send(end);
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

  private void send(AgentStatus now) throws IOException, InterruptedException {
    if (now != status) {
      status = now;
      socketPeer.emit("agent:status", about().put("status", now.wire()));
    }
  }

  private void send(ErrorReported error) throws IOException, InterruptedException {
    var about = about();
    about.putObject("error").put("message", error.message()).put("name", error.code().wire());
    socketPeer.emit("agent:error", about);
  }

  private void complete(AgentStatus end, Instant at, long messages)
      throws IOException, InterruptedException {
    var duration = Duration.between(agent.task().createdAt(), at).toMillis();
    var result = Json.object().put("status", end.result()).put("duration", duration);
    var about = about();
    about.set("result", result.put("messageCount", messages));
    socketPeer.emit("agent:complete", about);
  }

  private ObjectNode about() {
    return Json.object()
        .put("agentId", id.value())
        .put("timestamp", Timestamps.format(parts.clock().instant()));
  }
}
