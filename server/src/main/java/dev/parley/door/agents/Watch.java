package dev.parley.door.agents;

import dev.parley.door.DoorParts;
import dev.parley.door.Streams;
import dev.parley.protocol.Json;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.TaskId;
import dev.parley.socket.Peer;
import dev.parley.view.Feed;
import dev.parley.view.RootView;
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
final class Watch implements Runnable {

  private static final System.Logger LOG = System.getLogger(Watch.class.getName());
  private static final Duration FOR_EVER = Duration.ofDays(1);
  private static final Duration PAUSE = Duration.ofSeconds(1);
  private static final int KNOWN_MAX = 10_000;

  private final DoorParts parts;
  private final News news;
  private final Peer peer;
  private final Streams.Open open;
  private final Set<String> owners;
  private final Map<TaskId, AgentStatus> known = new LinkedHashMap<>();
  private final Deque<News.Notice> untold = new ArrayDeque<>();
  private Feed.Cursor cursor;

  /// Sends events after `from`.
  Watch(DoorParts parts, News news, Peer peer, Streams.Open open, Feed.Cursor from) {
    this.parts = parts;
    this.news = news;
    this.peer = peer;
    this.open = open;
    this.cursor = from;
    this.owners = parts.access().owners(peer.principal());
  }

  @Override
  public void run() {
    try (open) {
      while (!open.ended()) {
        if (!untold.isEmpty() || open.await(() -> news.await(cursor, FOR_EVER))) {
          read();
        }
      }
    } catch (IOException left) {
      // The connection ends the session.
    } catch (InterruptedException told) {
      Thread.currentThread().interrupt();
    } catch (Exception failed) { // This is the root of a thread.
      LOG.log(Level.ERROR, "cannot send events about agents to " + peer.id(), failed);
    }
  }

  private void read() throws IOException, InterruptedException {
    try {
      if (untold.isEmpty()) {
        var page = news.after(cursor);
        page.notices().stream().filter(one -> owners.contains(one.owner())).forEach(untold::add);
        cursor = page.next();
      }
      for (var notice = untold.peek(); notice != null && !open.ended(); notice = untold.peek()) {
        tell(notice);
        untold.remove();
      }
    } catch (Rejection.Invalid lost) {
      // The missed notices are unknown: the peer has to list the agents again.
      peer.emit("agent:gap", about("*"));
      cursor = news.end();
    } catch (Rejection.Unavailable later) {
      // Unsent notices are sent after the pause.
      open.pause(PAUSE);
    }
  }

  private void tell(News.Notice notice) throws IOException, InterruptedException {
    switch (notice) {
      case News.Notice.Created(_, var agent) -> created(agent);
      case News.Notice.Changed(_, var agent, var status) -> updated(agent, status);
      case News.Notice.Deleted(_, var context) -> {
        for (var agent : parts.removal().departures().of(context)) {
          known.remove(agent);
          peer.emit("agent:deleted", about(agent.value()));
        }
      }
    }
  }

  private void created(TaskId agent) throws IOException, InterruptedException {
    var found = find(agent);
    if (found.isPresent()) {
      var about = AgentVisits.stamped(parts.clock());
      about.set("agent", Json.mapper().valueToTree(AgentInfo.of(found.get())));
      peer.emit("agent:created", about);
    }
  }

  private Optional<RootView> find(TaskId agent) {
    try {
      return parts.views().roots().find(agent);
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
      peer.emit("agent:updated", about(agent.value()).put("status", status.wire()));
    }
    if (status == AgentStatus.TERMINATED) {
      peer.emit("agent:deleted", about(agent.value()));
    }
  }

  private ObjectNode about(String agent) {
    return AgentVisits.stamped(parts.clock()).put("agentId", agent);
  }
}
