package dev.parley.cluster;

import dev.parley.log.PostgresNode;
import dev.parley.log.PostgresNode.NodeInfo;
import dev.parley.log.PostgresNode.NodeRow;
import dev.parley.log.SimulatedDatabase.Link;
import dev.parley.log.SimulatedNodes;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The nodes of a cluster, in a simulated database. The limits are those of [PostgresNodeTable].
record SimulatedNodeTable(Link link) implements NodeTable {

  private static final Duration BEAT_MAX = Duration.ofSeconds(2);
  private static final Duration REPLY_MAX = Duration.ofSeconds(30);

  @Override
  public BeatSession connect() throws SQLException {
    return new SimulatedBeatSession(new SimulatedNodes(link, BEAT_MAX, true));
  }

  @Override
  public boolean takeOver(PostgresNode node, @Nullable NodeRow predecessor) throws SQLException {
    try (var nodes = new SimulatedNodes(link, REPLY_MAX, false)) {
      return nodes.takeOver(node, predecessor);
    }
  }

  @Override
  public void leave(PostgresNode node) throws SQLException {
    try (var nodes = new SimulatedNodes(link, BEAT_MAX, false)) {
      nodes.leave(node);
    }
  }

  @Override
  public String toString() {
    return "a simulated database";
  }

  private record SimulatedBeatSession(SimulatedNodes nodes) implements BeatSession {

    @Override
    public PostgresNode register(NodeInfo info) throws SQLException {
      return nodes.register(info);
    }

    @Override
    public List<NodeRow> beat(PostgresNode node) throws SQLException {
      return nodes.beat(node);
    }

    @Override
    public boolean declareDead(NodeRow node) throws SQLException {
      return nodes.declareDead(node);
    }

    @Override
    public void requestDrain(PostgresNode node) throws SQLException {
      nodes.requestDrain(node);
    }

    @Override
    public void leave(PostgresNode node) throws SQLException {
      nodes.leave(node);
    }

    @Override
    public void close() {
      nodes.close();
    }
  }
}
