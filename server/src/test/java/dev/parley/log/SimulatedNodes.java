package dev.parley.log;

import dev.parley.log.PostgresNode.NodeInfo;
import dev.parley.log.PostgresNode.NodeRole;
import dev.parley.log.PostgresNode.NodeRow;
import dev.parley.log.SimulatedDatabase.Link;
import dev.parley.log.SimulatedDatabase.Protection;
import dev.parley.log.SimulatedDatabase.Session;
import dev.parley.log.SimulatedTables.RowChange;
import dev.parley.log.SimulatedTables.RowKey;
import dev.parley.log.SimulatedTables.Table;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// The rows of nodes in a simulated database: what the statements of [PostgresNode] do.
public final class SimulatedNodes implements AutoCloseable {

  /// What stands for the unique index of active nodes: it has at most one entry.
  private static final long ACTIVE = -1;

  private final Session session;

  private record NodeData(NodeInfo info, NodeRole role, long epoch, boolean drain) {

    NodeData with(NodeRole newRole) {
      return new NodeData(info, newRole, epoch, drain);
    }

    NodeData drained() {
      return new NodeData(info, role, epoch, true);
    }

    NodeData raised() {
      return new NodeData(info, role, epoch + 1, drain);
    }
  }

  /// A connection for signs of life if `asynchronous`, and for everything else if not.
  public SimulatedNodes(Link link, Duration patience, boolean asynchronous) throws SQLException {
    this.session = link.connect(patience, asynchronous);
  }

  private static RowKey key(long node) {
    return RowKey.of(Table.NODES, node);
  }

  private static RowKey beatKey(long node) {
    return RowKey.of(Table.BEATS, node);
  }

  private static @Nullable NodeData node(SimulatedTables tables, long id) {
    return tables.get(NodeData.class, key(id));
  }

  private static long beats(SimulatedTables tables, long node) {
    return Objects.requireNonNullElse(tables.get(Long.class, beatKey(node)), 0L);
  }

  public PostgresNode register(NodeInfo info) throws SQLException {
    return session.commit(
        Set.of(),
        (_, changes) -> {
          var id = session.database().nextNodeId(changes);
          changes.add(new RowChange(key(id), new NodeData(info, NodeRole.STANDBY, 1, false)));
          changes.add(new RowChange(beatKey(id), 0L));
          return new PostgresNode(id);
        });
  }

  public List<NodeRow> beat(PostgresNode own) throws SQLException {
    return session.commit(
        Set.of(),
        (tables, changes) -> {
          if (tables.get(beatKey(own.id())) != null) {
            changes.add(new RowChange(beatKey(own.id()), beats(tables, own.id()) + 1));
          }
          return alive(session.database().visible());
        });
  }

  private static List<NodeRow> alive(SimulatedTables tables) {
    return tables.all(Table.NODES).entrySet().stream()
        .map(row -> row(tables, row.getKey().first(), (NodeData) row.getValue()))
        .filter(row -> row.role() != NodeRole.DEAD)
        .toList();
  }

  private static NodeRow row(SimulatedTables tables, long id, NodeData data) {
    return new NodeRow(id, data.role(), data.info(), beats(tables, id), 0, data.drain());
  }

  public boolean takeOver(PostgresNode own, @Nullable NodeRow predecessor) throws SQLException {
    var locked =
        predecessor == null ? Set.of(own.id(), ACTIVE) : Set.of(own.id(), predecessor.id(), ACTIVE);
    return session.commit(
        locked,
        (tables, changes) -> {
          if (predecessor != null && !kill(tables, predecessor, changes)) {
            return false;
          }
          var data = node(tables, own.id());
          if (data == null || data.role() != NodeRole.STANDBY || otherActive(tables, predecessor)) {
            changes.clear();
            return false;
          }
          changes.add(new RowChange(key(own.id()), data.with(NodeRole.ACTIVE)));
          return true;
        });
  }

  private static boolean otherActive(SimulatedTables tables, @Nullable NodeRow predecessor) {
    return alive(tables).stream()
        .anyMatch(
            node ->
                node.role() == NodeRole.ACTIVE
                    && (predecessor == null || node.id() != predecessor.id()));
  }

  private static boolean kill(SimulatedTables tables, NodeRow node, List<RowChange> changes) {
    var data = node(tables, node.id());
    if (data == null || data.role() == NodeRole.DEAD || beats(tables, node.id()) != node.beats()) {
      return false;
    }
    changes.add(new RowChange(key(node.id()), data.with(NodeRole.DEAD).raised()));
    return true;
  }

  public boolean declareDead(NodeRow node) throws SQLException {
    return session.commit(Set.of(node.id()), (tables, changes) -> kill(tables, node, changes));
  }

  public void leave(PostgresNode own) throws SQLException {
    session.commit(
        Set.of(own.id()),
        (tables, changes) -> {
          var data = node(tables, own.id());
          if (data != null && data.role() != NodeRole.DEAD) {
            changes.add(new RowChange(key(own.id()), data.with(NodeRole.DEAD).raised()));
          }
          return true;
        });
  }

  public void requestDrain(PostgresNode own) throws SQLException {
    session.commit(
        Set.of(own.id()),
        (tables, changes) -> {
          var data = node(tables, own.id());
          if (data != null && data.role() != NodeRole.DEAD) {
            changes.add(new RowChange(key(own.id()), data.drained()));
          }
          return true;
        });
  }

  /// Requests the active node to give up its role, as an administrator does.
  public void drainActive() throws SQLException {
    for (var active : session.query(SimulatedNodes::alive)) {
      if (active.role() == NodeRole.ACTIVE) {
        requestDrain(new PostgresNode(active.id()));
      }
    }
  }

  /// Makes earlier writers of the node harmless; empty if it is not active.
  static Optional<Long> raiseEpoch(Link link, Session session, long id) throws SQLException {
    var database = session.database();
    if (!database.has(Protection.BARRIER)) {
      try (var asynchronous = link.connect(session.patience(), true)) {
        return raiseEpoch(asynchronous, id);
      }
    }
    return raiseEpoch(session, id);
  }

  private static Optional<Long> raiseEpoch(Session session, long id) throws SQLException {
    return session.commit(
        Set.of(id),
        (tables, changes) -> {
          var data = node(tables, id);
          if (data == null || data.role() != NodeRole.ACTIVE) {
            return Optional.empty();
          }
          var raised = session.database().has(Protection.NEW_EPOCH) ? data.raised() : data;
          changes.add(new RowChange(key(id), raised));
          return Optional.of(raised.epoch());
        });
  }

  /// True if the node has another epoch than its writer, who must not write any more.
  static boolean isFenced(SimulatedDatabase database, SimulatedTables tables, long id, long epoch) {
    var data = node(tables, id);
    return database.has(Protection.FENCING) && (data == null || data.epoch() != epoch);
  }

  @Override
  public void close() {
    session.close();
  }
}
