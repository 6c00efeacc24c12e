package dev.parley.api.agents;

import dev.parley.api.ApiDependencies;
import dev.parley.api.agents.AgentInfo.AgentStatus;
import dev.parley.api.agents.AgentNotifications.AgentNotice;
import dev.parley.api.agents.SocketArgument.NoticeArgument;
import dev.parley.http.OpenStreams;
import dev.parley.projection.ContextFeed.FeedCursor;
import dev.parley.projection.RootTaskView;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.TaskId;
import dev.parley.socketio.SocketPeer;
import dev.parley.stream.Subscription;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/// Sends events about all agents that a peer may see: created, status changed, deleted.
final class AgentListSubscription
    implements Runnable,
        Subscription.Source<FeedCursor>,
        Subscription.Encoder<FeedCursor, List<AgentNotice>>,
        Subscription.Sink<FeedCursor, List<AgentNotice>> {

  private static final System.Logger LOG = System.getLogger(AgentListSubscription.class.getName());
  private static final Duration PAUSE = Duration.ofSeconds(1);
  private static final int KNOWN_MAX = 10_000;

  private final ApiDependencies parts;
  private final AgentNotifications notifications;
  private final SocketPeer socketPeer;
  private final OpenStreams.StreamSlot streamSlot;
  private final FeedCursor from;
  private final Map<TaskId, AgentStatus> known = new LinkedHashMap<>();

  /// Sends events after `from`.
  AgentListSubscription(
      ApiDependencies parts,
      AgentNotifications agentNotifications,
      SocketPeer socketPeer,
      OpenStreams.StreamSlot streamSlot,
      FeedCursor from) {
    this.parts = parts;
    this.notifications = agentNotifications;
    this.socketPeer = socketPeer;
    this.streamSlot = streamSlot;
    this.from = from;
  }

  @Override
  public void run() {
    try (streamSlot) {
      new Subscription<>(
              new Subscription.Parts<>(this, this, this, streamSlot, parts.time(), Duration.ZERO),
              from)
          .run();
    } catch (IOException left) {
      // The connection ends the session.
    } catch (InterruptedException told) {
      Thread.currentThread().interrupt();
    } catch (Exception failed) { // This is the root of a thread.
      LOG.log(Level.ERROR, "cannot send events about agents to " + socketPeer.id(), failed);
    }
  }

  @Override
  public boolean await(FeedCursor cursor, Duration patience) throws InterruptedException {
    return notifications.await(cursor, patience);
  }

  @Override
  public FeedCursor skip(Rejection.Invalid lost) {
    return notifications.end();
  }

  @Override
  public Subscription.Batch<FeedCursor, List<AgentNotice>> next(FeedCursor cursor)
      throws InterruptedException {
    var noticePage = notifications.after(cursor);
    var visible = parts.access().visible(socketPeer.caller());
    return new Subscription.Batch<>(
        noticePage.notices().stream()
            .filter(one -> visible.contains(one.context(), one.owner()))
            .toList(),
        noticePage.next());
  }

  @Override
  public void send(List<AgentNotice> notices) throws IOException, InterruptedException {
    for (var i = 0; i < notices.size() && !streamSlot.ended(); ) {
      try {
        send(notices.get(i));
        i++;
      } catch (Rejection.Unavailable later) {
        unavailable(later);
      }
    }
  }

  /// The missed notices are unknown: the peer has to list the agents again.
  @Override
  public void gap(FeedCursor cursor, FeedCursor requested)
      throws IOException, InterruptedException {
    emit("agent:gap", notice("*"));
  }

  @Override
  public void unavailable(Rejection.Unavailable failure) {
    streamSlot.pause(PAUSE);
  }

  private void send(AgentNotice agentNotice) throws IOException, InterruptedException {
    switch (agentNotice) {
      case AgentNotice.AgentCreated(_, _, var agent) -> created(agent);
      case AgentNotice.AgentStatusChanged(_, _, var agent, var status) -> updated(agent, status);
      case AgentNotice.AgentsDeleted(_, var context) -> {
        for (var agent : parts.deletion().deletedRoots(context)) {
          known.remove(agent);
          emit("agent:deleted", notice(agent.value()));
        }
      }
    }
  }

  private void created(TaskId agent) throws IOException, InterruptedException {
    var found = find(agent);
    if (found.isPresent()) {
      var info = AgentInfo.of(found.get());
      emit("agent:created", NoticeArgument.created(parts.time().instant(), info));
    }
  }

  private Optional<RootTaskView> find(TaskId agent) {
    try {
      return parts.views().rootTasks().find(agent);
    } catch (Rejection.Gone | Rejection.NotFound deleted) {
      return Optional.empty();
    }
  }

  private void updated(TaskId agent, AgentStatus status) throws IOException, InterruptedException {
    var before = status.ended() ? known.remove(agent) : known.put(agent, status);
    if (known.size() > KNOWN_MAX) {
      known.remove(known.keySet().iterator().next());
    }
    if (status != before) {
      emit("agent:updated", notice(agent.value()).with(status, null));
    }
    if (status == AgentStatus.TERMINATED) {
      emit("agent:deleted", notice(agent.value()));
    }
  }

  private NoticeArgument notice(String agent) {
    return NoticeArgument.of(parts.time().instant(), agent);
  }

  private void emit(String event, NoticeArgument argument)
      throws IOException, InterruptedException {
    socketPeer.emit(event, argument.json());
  }
}
