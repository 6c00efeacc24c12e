package dev.parley.cluster;

import dev.parley.log.PostgresDatabase;
import dev.parley.log.PostgresNode;
import dev.parley.log.PostgresNode.NodeInfo;
import dev.parley.log.PostgresNode.NodeRow;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The nodes of a cluster, in a PostgreSQL database.
public record PostgresNodeTable(PostgresDatabase database) implements NodeTable {

  private static final Duration REPLY_MAX = Duration.ofSeconds(2);

  @Override
  public BeatSession connect() throws SQLException {
    var connection = database.connect(REPLY_MAX);
    try (var statement = connection.createStatement()) {
      statement.execute("SET synchronous_commit = off");
      return new PostgresBeatSession(connection);
    } catch (SQLException failed) {
      connection.close();
      throw failed;
    }
  }

  @Override
  public boolean takeOver(PostgresNode node, @Nullable NodeRow predecessor) throws SQLException {
    try (var connection = database.connect()) {
      return node.takeOver(connection, predecessor);
    }
  }

  @Override
  public void leave(PostgresNode node) throws SQLException {
    try (var connection = database.connect(REPLY_MAX)) {
      node.leave(connection);
    }
  }

  @Override
  public String toString() {
    return database.toString();
  }

  private record PostgresBeatSession(Connection connection) implements BeatSession {

    @Override
    public PostgresNode register(NodeInfo info) throws SQLException {
      return PostgresNode.register(connection, info);
    }

    @Override
    public List<NodeRow> beat(PostgresNode node) throws SQLException {
      return node.beat(connection);
    }

    @Override
    public boolean declareDead(NodeRow node) throws SQLException {
      return PostgresNode.declareDead(connection, node);
    }

    @Override
    public void requestDrain(PostgresNode node) throws SQLException {
      PostgresNode.requestDrain(connection, node.id());
    }

    @Override
    public void leave(PostgresNode node) throws SQLException {
      node.leave(connection);
    }

    @Override
    public void close() throws SQLException {
      connection.close();
    }
  }
}
