package dev.parley.api.agents;

import dev.parley.http.ApiDependencies;
import dev.parley.protocol.Json;
import dev.parley.protocol.Timestamps;
import dev.parley.socketio.SocketPeer;
import dev.parley.socketio.SocketSession;
import java.io.IOException;
import java.time.InstantSource;
import tools.jackson.databind.node.ObjectNode;

/// Creates the sessions of socket clients.
final class AgentSocketSessionFactory implements SocketSession.SocketSessionFactory {

  private final ApiDependencies parts;
  private final AgentLookup agents;
  private final MessageBatchCache batches;
  private final AgentNotifications notifications;

  AgentSocketSessionFactory(
      ApiDependencies parts, AgentLookup agents, MessageBatchCache messageBatchCache) {
    this.parts = parts;
    this.agents = agents;
    this.batches = messageBatchCache;
    this.notifications = new AgentNotifications(parts.log(), parts.views().feed());
  }

  @Override
  public SocketSession connect(SocketPeer socketPeer) {
    var visit = new AgentSocketSession(parts, agents, batches, notifications, socketPeer);
    try {
      socketPeer.emit("connected", timestamped(parts.clock()).put("clientId", socketPeer.id()));
      visit.startWatching();
    } catch (IOException left) {
      // The connection ends the session.
    } catch (InterruptedException told) {
      Thread.currentThread().interrupt();
    }
    return visit;
  }

  /// An object with the current timestamp.
  static ObjectNode timestamped(InstantSource clock) {
    return Json.object().put("timestamp", Timestamps.format(clock.instant()));
  }
}
