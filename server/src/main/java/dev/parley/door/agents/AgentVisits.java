package dev.parley.door.agents;

import dev.parley.door.DoorParts;
import dev.parley.protocol.Json;
import dev.parley.protocol.Timestamps;
import dev.parley.socket.Peer;
import dev.parley.socket.Visit;
import java.io.IOException;
import java.time.InstantSource;
import tools.jackson.databind.node.ObjectNode;

/// Creates the sessions of socket clients.
final class AgentVisits implements Visit.Host {

  private final DoorParts parts;
  private final AgentLookup agents;
  private final Passages passages;
  private final News news;

  AgentVisits(DoorParts parts, AgentLookup agents, Passages passages) {
    this.parts = parts;
    this.agents = agents;
    this.passages = passages;
    this.news = new News(parts.log(), parts.views().feed());
  }

  @Override
  public Visit welcome(Peer peer) {
    var visit = new AgentVisit(parts, agents, passages, news, peer);
    try {
      peer.emit("connected", stamped(parts.clock()).put("clientId", peer.id()));
      visit.watch();
    } catch (IOException left) {
      // The connection ends the session.
    } catch (InterruptedException told) {
      Thread.currentThread().interrupt();
    }
    return visit;
  }

  /// An object with the current timestamp.
  static ObjectNode stamped(InstantSource clock) {
    return Json.object().put("timestamp", Timestamps.format(clock.instant()));
  }
}
