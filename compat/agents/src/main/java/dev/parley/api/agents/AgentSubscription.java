package dev.parley.api.agents;

import dev.parley.api.ApiDependencies;
import dev.parley.api.agents.AgentInfo.AgentStatus;
import dev.parley.api.agents.MessageBatchCache.BatchItem;
import dev.parley.api.agents.NumberedReader.NumberedPosition;
import dev.parley.api.agents.SocketArgument.AgentArgument;
import dev.parley.api.agents.SocketArgument.AgentEndArgument;
import dev.parley.api.agents.SocketArgument.AgentErrorArgument;
import dev.parley.http.OpenStreams;
import dev.parley.projection.RootTaskView;
import dev.parley.projection.TaskTree;
import dev.parley.protocol.Entry;
import dev.parley.protocol.Position;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.ReportEvent.ErrorReported;
import dev.parley.protocol.ReportEvent.ErrorScope;
import dev.parley.protocol.TaskEvent.TaskStatus;
import dev.parley.protocol.TaskId;
import dev.parley.socketio.SocketEventBatch;
import dev.parley.socketio.SocketPeer;
import dev.parley.stream.ReadSize;
import dev.parley.stream.Subscription;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// Sends the messages of one agent to a peer: past ones from a number on, and then new ones, until
/// the agent ends.
///
/// It reads from the log, so it sends only durable events. A slow peer does not delay others. A
/// peer that falls too far behind gets a gap event, and continues at the end of the log.
final class AgentSubscription
    implements Runnable,
        Subscription.Source<NumberedPosition>,
        Subscription.Encoder<NumberedPosition, List<BatchItem>>,
        Subscription.Sink<NumberedPosition, List<BatchItem>> {

  /// How many events a peer may be behind after it has caught up once.
  static final int BEHIND_MAX = 10_000;

  private static final System.Logger LOG = System.getLogger(AgentSubscription.class.getName());
  private static final Duration PAUSE = Duration.ofSeconds(1);

  private final ApiDependencies parts;
  private final MessageBatchCache batches;
  private final SocketPeer socketPeer;
  private final OpenStreams.StreamSlot streamSlot;
  private final RootTaskView agent;
  private final TaskId id;
  private final boolean raw;
  private final ReadSize readSize = new ReadSize();
  private long since;
  private long sentNumber;
  private boolean atEnd;
  private boolean caughtUp;
  private boolean ended;
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
    this.raw = parts.access().mayReadInternal(socketPeer.caller());
  }

  @Override
  public void run() {
    try (streamSlot) {
      var from = begin();
      if (from.isPresent()) {
        new Subscription<>(
                new Subscription.Parts<>(this, this, this, streamSlot, parts.time(), Duration.ZERO),
                from.get())
            .run();
      }
    } catch (IOException | Rejection.NotFound | Rejection.Gone left) {
      // The peer has disconnected, or the agent was deleted, which another event reports.
    } catch (InterruptedException told) {
      Thread.currentThread().interrupt();
    } catch (Exception failed) { // This is the root of a thread.
      LOG.log(Level.ERROR, "cannot send events of agent " + id + " to " + socketPeer.id(), failed);
    }
  }

  /// Where to begin; empty if the subscription has ended. A peer whose number does not exist yet gets
  /// a gap event, and continues at the end of the log.
  private Optional<NumberedPosition> begin() throws IOException, InterruptedException {
    var rootTasks = parts.views().rootTasks();
    while (!streamSlot.ended()) {
      try {
        var last = rootTasks.lastNumber(agent.task().contextId(), id).number();
        if (since > last) {
          sendGap(last, last + 1);
          since = last;
          sentNumber = last;
        }
        return Optional.of(NumberedPosition.of(rootTasks, agent.task().contextId(), id, since));
      } catch (Rejection.Unavailable later) {
        unavailable(later);
      }
    }
    return Optional.empty();
  }

  @Override
  public boolean await(NumberedPosition from, Duration patience) throws InterruptedException {
    atEnd = !parts.log().head(from.context()).after(from.position());
    caughtUp |= atEnd;
    return parts.log().await(from.context(), from.position(), patience);
  }

  @Override
  public Subscription.Batch<NumberedPosition, List<BatchItem>> next(NumberedPosition from)
      throws InterruptedException {
    var behind = parts.log().head(from.context()).seq() - from.position().seq();
    if (caughtUp && !atEnd && behind > BEHIND_MAX) {
      var last = parts.views().rootTasks().lastNumber(agent.task().contextId(), id);
      // Skips all but the last message; the peer can request the others. Never moves backward: if
      // there is nothing to skip, it reads on.
      if (last.number() - 1 > sentNumber && last.seq() - 1 > from.position().seq()) {
        since = last.number() - 1;
        return new Subscription.Batch<>(
            List.of(new BatchItem.SkippedMessages(sentNumber, last.number())),
            from.at(Position.of(last.seq() - 1), since));
      }
    }
    var messageBatch = batches.after(from, readSize, raw);
    return new Subscription.Batch<>(messageBatch.items(), messageBatch.end());
  }

  @Override
  public boolean ended(NumberedPosition from) {
    return ended;
  }

  @Override
  public void send(List<BatchItem> items) throws IOException, InterruptedException {
    for (var i = 0; i < items.size() && !ended && !streamSlot.ended(); i++) {
      ended = !send(items.get(i));
    }
  }

  @Override
  public void unavailable(Rejection.Unavailable failure) {
    streamSlot.pause(PAUSE);
  }

  /// Sends an item. False if it is the agent's end.
  private boolean send(BatchItem batchItem) throws IOException, InterruptedException {
    return switch (batchItem) {
      case BatchItem.EncodedMessages(var socketEventBatch, var last) -> {
        send(socketEventBatch, last);
        yield true;
      }
      case BatchItem.AgentChange(var entry, var number) -> send(entry, number);
      case BatchItem.SkippedMessages(var from, var to) -> {
        sendGap(from, to);
        yield true;
      }
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
    var end = TaskTree.endIn(entry.event()).map(AgentStatus::of);
    if (entry.event() instanceof TaskStatus now && (end.isPresent() || number >= since)) {
      send(AgentStatus.of(now.status()));
    }
    if (entry.event() instanceof ErrorReported error
        && error.scope() == ErrorScope.TASK
        && number > since) {
      var shown = new AgentErrorArgument(error.message(), error.code());
      emit("agent:error", AgentArgument.error(id, parts.time().instant(), shown));
    }
    if (end.isPresent()) {
      send(end.get());
      complete(end.get(), entry.timestamp(), number);
    }
    return end.isEmpty();
  }

  private void send(AgentStatus now) throws IOException, InterruptedException {
    if (now != status) {
      status = now;
      emit("agent:status", AgentArgument.status(id, parts.time().instant(), now));
    }
  }

  private void complete(AgentStatus end, Instant at, long messages)
      throws IOException, InterruptedException {
    var duration = Duration.between(agent.task().createdAt(), at).toMillis();
    var result = new AgentEndArgument(end.result(), duration, messages);
    emit("agent:complete", AgentArgument.result(id, parts.time().instant(), result));
  }

  private void sendGap(long from, long to) throws IOException, InterruptedException {
    emit("agent:gap", AgentArgument.gap(id, parts.time().instant(), from, to));
  }

  private void emit(String event, AgentArgument argument) throws IOException, InterruptedException {
    socketPeer.emit(event, argument.json());
  }
}
