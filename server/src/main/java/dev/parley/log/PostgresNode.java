package dev.parley.log;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// One start of a server that shares a PostgreSQL database with others, identified by its row in the
/// table `nodes`. At most one node is active: it alone writes the log.
///
/// A node writes only while its row has the epoch that its writer knows. Whoever opens a writer for
/// the node raises the epoch, and so does whoever declares the node dead. An earlier writer can then
/// write no more, whatever it is doing: no clock is involved.
public record PostgresNode(long id) {

  /// The SQL state of a second active node.
  private static final String UNIQUE_VIOLATION = "23505";

  private static final String LIVING =
      """
      SELECT id, state, address, version, beats,
        extract(epoch FROM clock_timestamp() - at)::bigint, drain
        FROM nodes JOIN beats ON node = id WHERE state <> 'dead' ORDER BY id
      """;

  /// Declares a node dead. The lock waits for statements with [#activeCondition].
  private static final String END =
      """
      WITH ending AS (SELECT id FROM nodes WHERE id = ? AND state <> 'dead' FOR UPDATE)
      UPDATE nodes SET state = 'dead', epoch = epoch + 1 FROM ending WHERE nodes.id = ending.id
      """;

  /// The role of a node.
  public enum NodeRole {
    /// Forwards requests to the active node, and takes over from it.
    STANDBY,
    /// Writes the log, runs the tasks and answers requests.
    ACTIVE,
    /// Must not write any more.
    DEAD;

    /// The name in the database and in replies.
    public String text() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /// What a node tells others: where they reach it, and its version.
  public record NodeInfo(String address, String version) {}

  /// A node as the database describes it. Each sign of life increases `beats`. `secondsSilent` is
  /// for people only. `drain` requests the node to give up its role.
  public record NodeRow(
      long id, NodeRole role, NodeInfo info, long beats, long secondsSilent, boolean drain) {}

  /// Inserts the row of a new standby node, and deletes those of nodes that have been dead for a day:
  /// nothing refers to them, and no id is used twice.
  public static PostgresNode register(Connection connection, NodeInfo info) throws SQLException {
    Jdbc.update(
        connection,
        """
        WITH old AS (DELETE FROM nodes USING beats
          WHERE node = id AND state = 'dead' AND at < clock_timestamp() - interval '1 day'
          RETURNING id)
        DELETE FROM beats WHERE node IN (SELECT id FROM old)
        """);
    return Jdbc.list(
            connection,
            """
            WITH node AS (INSERT INTO nodes (address, version) VALUES (?, ?) RETURNING id)
            INSERT INTO beats (node) SELECT id FROM node RETURNING node
            """,
            row -> new PostgresNode(row.getLong(1)),
            info.address(),
            info.version())
        .getFirst();
  }

  /// Gives a sign of life, and returns the nodes that are not dead as they were before it.
  public List<NodeRow> beat(Connection connection) throws SQLException {
    return Jdbc.list(
        connection,
        """
        WITH beat AS (
          UPDATE beats SET beats = beats + 1, at = clock_timestamp() WHERE node = ?)
        """
            + LIVING,
        PostgresNode::row,
        id);
  }

  /// Returns the nodes that are not dead.
  public static List<NodeRow> living(Connection connection) throws SQLException {
    return Jdbc.list(connection, LIVING, PostgresNode::row);
  }

  private static NodeRow row(ResultSet row) throws SQLException {
    return new NodeRow(
        row.getLong(1),
        NodeRole.valueOf(row.getString(2).toUpperCase(Locale.ROOT)),
        new NodeInfo(row.getString(3), row.getString(4)),
        row.getLong(5),
        row.getLong(6),
        row.getBoolean(7));
  }

  /// Makes this standby node the active one. `predecessor`, the active node until now, is declared
  /// dead, unless it has given a sign of life since this description of it. False if that is so, or
  /// if another node was faster.
  ///
  /// The change waits for a transaction of the predecessor that has begun, and later ones fail.
  ///
  /// @throws SQLException if the database fails, or if a newer version of this program has migrated
  ///     it: its events may be unknown to this one
  public boolean takeOver(Connection connection, @Nullable NodeRow predecessor)
      throws SQLException {
    connection.setAutoCommit(false);
    try {
      var _ = PostgresDatabase.versionNotNewer(connection);
      var taken =
          (predecessor == null || declareDead(connection, predecessor)) && activate(connection);
      if (taken) {
        connection.commit();
      } else {
        connection.rollback();
      }
      return taken;
    } catch (SQLException failed) {
      connection.rollback();
      if (UNIQUE_VIOLATION.equals(failed.getSQLState())) {
        return false;
      }
      throw failed;
    } finally {
      connection.setAutoCommit(true);
    }
  }

  private boolean activate(Connection connection) throws SQLException {
    return Jdbc.update(
            connection, "UPDATE nodes SET state = 'active' WHERE id = ? AND state = 'standby'", id)
        > 0;
  }

  /// Declares a node dead that has given no sign of life since this description of it. False if it
  /// has, or if it is dead already.
  public static boolean declareDead(Connection connection, NodeRow node) throws SQLException {
    return Jdbc.update(
            connection,
            END + " AND EXISTS (SELECT 1 FROM beats WHERE node = nodes.id AND beats = ?)",
            node.id(),
            node.beats())
        > 0;
  }

  /// Ends the life of this node: it cannot become active or write again.
  public void leave(Connection connection) throws SQLException {
    Jdbc.update(connection, END, id);
  }

  /// A condition for statements that write another table than the log: that this node is active. The
  /// node remains active until the transaction of the statement has ended. The statement waits for a
  /// takeover that has begun, but not for commits of the log.
  public String activeCondition() {
    return "EXISTS (SELECT 1 FROM nodes WHERE id = " + id + " AND state = 'active' FOR KEY SHARE)";
  }

  /// Requests a node to give up its role. False if there is no such node, or if it is dead.
  public static boolean requestDrain(Connection connection, long id) throws SQLException {
    return Jdbc.update(
            connection, "UPDATE nodes SET drain = true WHERE id = ? AND state <> 'dead'", id)
        > 0;
  }

  /// Makes earlier writers of this node harmless, and returns the epoch of the new one; empty if
  /// the node is not active.
  ///
  /// As this is a commit, everything that earlier writers have committed is durable when it returns,
  /// on the synchronous standby too.
  Optional<Long> raiseEpoch(Connection connection) throws SQLException {
    try (var raise =
        connection.prepareStatement(
            "UPDATE nodes SET epoch = epoch + 1 WHERE id = ? AND state = 'active'"
                + " RETURNING epoch")) {
      raise.setLong(1, id);
      try (var rows = raise.executeQuery()) {
        Jdbc.checkCommitted(raise.getWarnings());
        return rows.next() ? Optional.of(rows.getLong(1)) : Optional.empty();
      }
    }
  }
}
