package dev.parley.cluster;

import dev.parley.log.PostgresNode;
import dev.parley.log.PostgresNode.NodeInfo;
import dev.parley.log.PostgresNode.NodeRow;
import java.sql.SQLException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The nodes of a cluster, in the database that they share. Thread-safe.
///
/// An `SQLException` means that the database did not reply, and that the outcome is unknown.
public interface NodeTable {

  /// Connects for signs of life. What is changed there need not survive a crash of the database, and
  /// does not wait for its standby.
  BeatSession connect() throws SQLException;

  /// Makes a standby node the active one: see [PostgresNode#takeOver]. Returns when that is durable.
  boolean takeOver(PostgresNode node, @Nullable NodeRow predecessor) throws SQLException;

  /// Ends the life of a node: see [PostgresNode#leave].
  void leave(PostgresNode node) throws SQLException;

  /// A connection for signs of life. For one thread.
  interface BeatSession extends AutoCloseable {

    /// Adds a standby node.
    PostgresNode register(NodeInfo info) throws SQLException;

    /// Gives a sign of life, and returns the nodes that are not dead: see [PostgresNode#beat].
    List<NodeRow> beat(PostgresNode node) throws SQLException;

    /// Declares a silent node dead: see [PostgresNode#declareDead].
    boolean declareDead(NodeRow node) throws SQLException;

    /// Marks a node that does not take over: see [PostgresNode#requestDrain].
    void requestDrain(PostgresNode node) throws SQLException;

    /// Ends the life of a node.
    void leave(PostgresNode node) throws SQLException;

    @Override
    void close() throws SQLException;
  }
}
