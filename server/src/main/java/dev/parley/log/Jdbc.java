package dev.parley.log;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Runs single SQL statements.
final class Jdbc {

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

  static long number(Connection connection, String sql) throws SQLException {
    try (var statement = connection.createStatement();
        var rows = statement.executeQuery(sql)) {
      return rows.next() ? rows.getLong(1) : 0;
    }
  }
}
