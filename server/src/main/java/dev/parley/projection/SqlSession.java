package dev.parley.projection;

import dev.parley.protocol.Id;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.sqlite.SQLiteConnection;

/// A connection to SQLite and its prepared statements. Used by one thread.
///
/// Statements are cached by their SQL text. Values are always bound, so there are only as many
/// statements as literals in this package. Ids are bound as [ColumnValues#of(Id)] returns them.
final class SqlSession implements AutoCloseable {

  /// Converts a row to a value.
  interface RowReader<T> {
    T read(Row row) throws SQLException;
  }

  private final Connection connection;
  private final Map<String, PreparedStatement> statements = new HashMap<>();

  SqlSession(Connection connection) {
    this.connection = connection;
  }

  /// Executes an update and returns the number of changed rows.
  int update(String sql, @Nullable Object... values) throws SQLException {
    return bind(sql, values).executeUpdate();
  }

  <T> List<T> list(String sql, RowReader<T> rowReader, @Nullable Object... values)
      throws SQLException {
    try (var rows = bind(sql, values).executeQuery()) {
      var found = new ArrayList<T>();
      var row = new Row(rows, this);
      while (rows.next()) {
        found.add(rowReader.read(row));
      }
      return found;
    }
  }

  <T> Optional<T> first(String sql, RowReader<T> rowReader, @Nullable Object... values)
      throws SQLException {
    return list(sql, rowReader, values).stream().findFirst();
  }

  void commit() throws SQLException {
    connection.commit();
  }

  void rollback() throws SQLException {
    try {
      connection.rollback();
    } catch (SQLException alreadyRolledBack) {
      // SQLite itself ends a transaction that it cannot write, and the driver then lacks one.
      try (var statement = connection.createStatement()) {
        statement.execute("BEGIN");
      }
    }
  }

  /// Executes a statement that SQLite does not allow inside a transaction.
  void executeOutsideTransaction(String sql) throws SQLException {
    connection.setAutoCommit(true);
    try (var statement = connection.createStatement()) {
      statement.execute(sql);
    } finally {
      connection.setAutoCommit(false);
    }
  }

  /// Returns the whole database as bytes. Call it between transactions.
  byte[] image() throws SQLException {
    return connection.unwrap(SQLiteConnection.class).serialize("main");
  }

  /// Replaces the database by this image. Call it before the first statement.
  void load(byte[] image) throws SQLException {
    connection.unwrap(SQLiteConnection.class).deserialize("main", image);
  }

  @Override
  public void close() throws SQLException {
    for (var statement : statements.values()) {
      statement.close();
    }
    connection.close();
  }

  private PreparedStatement bind(String sql, @Nullable Object... values) throws SQLException {
    var statement = statements.get(sql);
    if (statement == null) {
      statement = connection.prepareStatement(sql);
      statements.put(sql, statement);
    }
    for (var i = 0; i < values.length; i++) {
      statement.setObject(i + 1, values[i] instanceof Id id ? ColumnValues.of(id) : values[i]);
    }
    return statement;
  }
}
