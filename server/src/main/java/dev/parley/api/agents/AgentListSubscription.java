package dev.parley.api.agents;

import dev.parley.http.ApiDependencies;
import dev.parley.http.OpenStreams;
import dev.parley.projection.ContextFeed;
import dev.parley.projection.RootTaskView;
import dev.parley.protocol.Json;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.TaskId;
import dev.parley.socketio.SocketPeer;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import tools.jackson.databind.node.ObjectNode;

/// Sends events about all agents that a peer may see: created, status changed, deleted.
final class AgentListSubscription implements Runnable {

  private static final System.Logger LOG = System.getLogger(AgentListSubscription.class.getName());
  private static final Duration FOR_EVER = Duration.ofDays(1);
  private static final Duration PAUSE = Duration.ofSeconds(1);
  private static final int KNOWN_MAX = 10_000;

  private final ApiDependencies parts;
  private final AgentNotifications notifications;
  private final SocketPeer socketPeer;
  private final OpenStreams.StreamSlot streamSlot;
  private final Set<String> owners;
  private final Map<TaskId, AgentStatus> known = new LinkedHashMap<>();
  private final Deque<AgentNotifications.AgentNotice> unsent = new ArrayDeque<>();
  private ContextFeed.FeedCursor feedCursor;

  /// Sends events after `from`.
  AgentListSubscription(
      ApiDependencies parts,
      AgentNotifications agentNotifications,
      SocketPeer socketPeer,
      OpenStreams.StreamSlot streamSlot,
      ContextFeed.FeedCursor from) {
    this.parts = parts;
    this.notifications = agentNotifications;
    this.socketPeer = socketPeer;
    this.streamSlot = streamSlot;
    this.feedCursor = from;
    this.owners = parts.access().owners(socketPeer.principal());
  }

  @Override
  public void run() {
    try (streamSlot) {
      while (!streamSlot.ended()) {
        if (!unsent.isEmpty()
            || streamSlot.await(() -> notifications.await(feedCursor, FOR_EVER))) {
          read();
        }
      }
    } catch (IOException left) {
      // The connection ends the session.
    } catch (InterruptedException told) {
      Thread.currentThread().interrupt();
    } catch (Exception failed) { // This is the root of a thread.
      LOG.log(Level.ERROR, "cannot send events about agents to " + socketPeer.id(), failed);
    }
  }

  private void read() throws IOException, InterruptedException {
    try {
      if (unsent.isEmpty()) {
        var noticePage = notifications.after(feedCursor);
        noticePage.notices().stream()
            .filter(one -> owners.contains(one.owner()))
            .forEach(unsent::add);
        feedCursor = noticePage.next();
      }
      for (var agentNotice = unsent.peek();
          agentNotice != null && !streamSlot.ended();
          agentNotice = unsent.peek()) {
        send(agentNotice);
        unsent.remove();
      }
    } catch (Rejection.Invalid lost) {
      // The missed notices are unknown: the peer has to list the agents again.
      socketPeer.emit("agent:gap", about("*"));
      feedCursor = notifications.end();
    } catch (Rejection.Unavailable later) {
      // Unsent notices are sent after the pause.
      streamSlot.pause(PAUSE);
    }
  }

  private void send(AgentNotifications.AgentNotice agentNotice)
      throws IOException, InterruptedException {
    switch (agentNotice) {
      case AgentNotifications.AgentNotice.AgentCreated(_, var agent) -> created(agent);
      case AgentNotifications.AgentNotice.AgentStatusChanged(_, var agent, var status) ->
          updated(agent, status);
      case AgentNotifications.AgentNotice.AgentsDeleted(_, var context) -> {
        for (var agent : parts.deletion().deletedAgents().of(context)) {
          known.remove(agent);
          socketPeer.emit("agent:deleted", about(agent.value()));
        }
      }
    }
  }

  private void created(TaskId agent) throws IOException, InterruptedException {
    var found = find(agent);
    if (found.isPresent()) {
      var about = AgentSocketSessionFactory.timestamped(parts.clock());
      about.set("agent", Json.mapper().valueToTree(AgentInfo.of(found.get())));
      socketPeer.emit("agent:created", about);
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
      socketPeer.emit("agent:updated", about(agent.value()).put("status", status.wire()));
    }
    if (status == AgentStatus.TERMINATED) {
      socketPeer.emit("agent:deleted", about(agent.value()));
    }
  }

  private ObjectNode about(String agent) {
    return AgentSocketSessionFactory.timestamped(parts.clock()).put("agentId", agent);
  }
}
