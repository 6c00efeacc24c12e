package dev.parley.log;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.SQLWarning;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Runs single SQL statements.
final class Jdbc {

  /// The SQL state of messages that are no warnings.
  private static final String NOTICE = "00000";

  private Jdbc() {}

  /// Converts the current row of a result.
  interface RowMapper<T> {
    T map(ResultSet row) throws SQLException;
  }

  /// Executes a statement with these values and returns the number of changed rows.
  static int update(Connection connection, String sql, @Nullable Object... values)
      throws SQLException {
    try (var statement = bind(connection, sql, values)) {
      return statement.executeUpdate();
    }
  }

  /// Returns all rows of a query with these values.
  static <T> List<T> list(
      Connection connection, String sql, RowMapper<T> mapper, @Nullable Object... values)
      throws SQLException {
    try (var statement = bind(connection, sql, values);
        var rows = statement.executeQuery()) {
      var found = new ArrayList<T>();
      while (rows.next()) {
        found.add(mapper.map(rows));
      }
      return found;
    }
  }

  private static PreparedStatement bind(
      Connection connection, String sql, @Nullable Object... values) throws SQLException {
    var statement = connection.prepareStatement(sql);
    for (var i = 0; i < values.length; i++) {
      statement.setObject(i + 1, values[i]);
    }
    return statement;
  }

  static void execute(Connection connection, String sql) throws SQLException {
    try (var statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  /// Throws if there was a warning while a commit returned. If an administrator cancels a commit that
  /// waits for a standby, PostgreSQL reports a success with a warning, although only this server has
  /// the commit.
  ///
  /// @param warning the warnings of the statement or, after [Connection#commit], of the connection
  static void checkCommitted(@Nullable SQLWarning warning) throws SQLException {
    for (var next = warning; next != null; next = next.getNextWarning()) {
      if (!NOTICE.equals(next.getSQLState())) {
        throw new SQLException(
            "the commit may be missing on the standby: " + next.getMessage(), next.getSQLState());
      }
    }
  }

  static long number(Connection connection, String sql) throws SQLException {
    try (var statement = connection.createStatement();
        var rows = statement.executeQuery(sql)) {
      return rows.next() ? rows.getLong(1) : 0;
    }
  }
}
