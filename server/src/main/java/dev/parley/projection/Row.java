package dev.parley.projection;

import dev.parley.protocol.Json;
import dev.parley.protocol.WireName;
import java.math.BigDecimal;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.HexFormat;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// The current row of a query result, with its columns converted to our types.
final class Row {

  private final ResultSet rows;
  private final SqlSession sqlSession;

  Row(ResultSet rows, SqlSession sqlSession) {
    this.rows = rows;
    this.sqlSession = sqlSession;
  }

  String text(String column) throws SQLException {
    var text = optionalText(column);
    if (text == null) {
      throw new IllegalStateException("a view's row lacks " + column);
    }
    return text;
  }

  @Nullable String optionalText(String column) throws SQLException {
    return rows.getObject(column) instanceof byte[] uuid
        ? ColumnValues.idText(uuid)
        : rows.getString(column);
  }

  /// Returns a text that may be stored in [TextTable].
  String longText(String column) throws SQLException {
    var text = optionalLongText(column);
    if (text == null) {
      throw new IllegalStateException("a view's row lacks " + column);
    }
    return text;
  }

  @Nullable String optionalLongText(String column) throws SQLException {
    if (!(rows.getObject(column) instanceof byte[] hash)) {
      return optionalText(column);
    }
    return new TextTable(sqlSession).find(hash);
  }

  /// Returns an object whose long texts may be stored in [TextTable].
  @Nullable ObjectNode optionalLongObject(String column) throws SQLException {
    var json = optionalLongText(column);
    return json == null ? null : new TextTable(sqlSession).readJson(json);
  }

  /// Returns JSON that may be stored in [TextTable].
  @Nullable JsonNode optionalLongJson(String column) throws SQLException {
    var json = optionalLongText(column);
    return json == null ? null : Json.mapper().readTree(json);
  }

  long number(String column) throws SQLException {
    return rows.getLong(column);
  }

  @Nullable Long optionalNumber(String column) throws SQLException {
    var number = rows.getLong(column);
    return rows.wasNull() ? null : number;
  }

  boolean flag(String column) throws SQLException {
    return rows.getInt(column) != 0;
  }

  Instant time(String column) throws SQLException {
    return Instant.ofEpochMilli(number(column));
  }

  @Nullable Instant optionalTime(String column) throws SQLException {
    var millis = optionalNumber(column);
    return millis == null ? null : Instant.ofEpochMilli(millis);
  }

  @Nullable BigDecimal optionalDecimal(String column) throws SQLException {
    var text = optionalText(column);
    return text == null ? null : new BigDecimal(text);
  }

  <T> @Nullable T optionalId(String column, Function<String, T> id) throws SQLException {
    var text = optionalText(column);
    return text == null ? null : id.apply(text);
  }

  <E extends Enum<E> & WireName> E name(String column, Class<E> type) throws SQLException {
    return WireName.parse(type, column, text(column));
  }

  <E extends Enum<E> & WireName> @Nullable E optionalName(String column, Class<E> type)
      throws SQLException {
    var text = optionalText(column);
    return text == null ? null : WireName.parse(type, column, text);
  }

  @Nullable JsonNode optionalJson(String column) throws SQLException {
    var text = optionalText(column);
    return text == null ? null : Json.mapper().readTree(text);
  }

  @Nullable ObjectNode optionalObject(String column) throws SQLException {
    return (ObjectNode) optionalJson(column);
  }

  ObjectNode longObject(String column) throws SQLException {
    return new TextTable(sqlSession).readJson(longText(column));
  }

  /// Returns the whole row as text.
  String dump() throws SQLException {
    var text = new StringBuilder();
    var columns = rows.getMetaData();
    for (var i = 1; i <= columns.getColumnCount(); i++) {
      text.append(i == 1 ? "  " : " | ").append(columns.getColumnName(i)).append('=');
      text.append(
          rows.getObject(i) instanceof byte[] hash
              ? HexFormat.of().formatHex(hash)
              : rows.getString(i));
    }
    return text.toString();
  }
}
