package dev.parley.projection;

import dev.parley.protocol.ContextId;
import dev.parley.protocol.Json;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.sql.SQLException;
import java.util.Arrays;
import java.util.HexFormat;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;
import tools.jackson.databind.node.StringNode;

/// Stores each long text once, however many messages, tasks and forks contain it.
///
/// A column that may hold a long text contains either the text or, as a blob, the hash under which
/// the text is stored here. JSON refers to long strings in the same way, and JSON that is itself
/// long is such a text. The table `text_uses` lists the contexts that use a text; the text is
/// deleted with the last of them.
///
/// This also keeps rows short: SQLite puts the rest of a row that is longer than about 1,000 bytes
/// on a page of its own.
final class TextTable {

  /// Shorter texts stay in their column, because a reference would hardly be smaller.
  private static final int LONG = 256;

  /// Enough that two texts never have the same hash by chance or by design.
  private static final int HASH_BYTES = 20;

  /// A JSON string that begins with this character is a reference. A hash follows, or the text
  /// itself if that begins with the same character.
  private static final String REFERENCE = "\u0001";

  private static final String REFERENCE_IN_JSON = "\\u0001";

  private final SqlSession sqlSession;

  TextTable(SqlSession sqlSession) {
    this.sqlSession = sqlSession;
  }

  /// Stores the text if it is long. Returns the value for its column.
  @Nullable Object put(ContextId context, @Nullable String text) throws SQLException {
    var value = column(text);
    if (value instanceof byte[] hash) {
      sqlSession.update("INSERT OR IGNORE INTO texts (hash, text) VALUES (?, ?)", hash, text);
      sqlSession.update(
          "INSERT OR IGNORE INTO text_uses (context, hash) VALUES (?, ?)", context, hash);
    }
    return value;
  }

  /// Does the same as [#put] for the long texts in a JSON object, and then for the object. Do this
  /// only if the object does not change any more: all its versions would be stored.
  @Nullable Object putFinalJson(ContextId context, @Nullable ObjectNode json) throws SQLException {
    return put(context, putJson(context, json));
  }

  /// Does the same as [#put] for the long texts in a JSON object. Returns the object as JSON.
  @Nullable String putJson(ContextId context, @Nullable ObjectNode json) throws SQLException {
    return json == null ? null : ColumnValues.json(stored(context, json));
  }

  private JsonNode stored(ContextId context, JsonNode json) throws SQLException {
    if (json.isString()) {
      put(context, json.asString());
      return StringNode.valueOf(inJson(json.asString()));
    }
    if (json instanceof ObjectNode object) {
      var copy = Json.object();
      for (var property : object.properties()) {
        copy.set(property.getKey(), stored(context, property.getValue()));
      }
      return copy;
    }
    if (json instanceof ArrayNode array) {
      var copy = Json.mapper().createArrayNode();
      for (var element : array) {
        copy.add(stored(context, element));
      }
      return copy;
    }
    return json;
  }

  /// Returns a text as it is written in stored JSON: a long text as a reference, and a short text
  /// that begins like a reference with an escape character.
  static String inJson(String text) {
    if (column(text) instanceof byte[] hash) {
      return REFERENCE + HexFormat.of().formatHex(hash);
    }
    return text.startsWith(REFERENCE) ? REFERENCE + text : text;
  }

  /// Returns the object that was stored as `json`.
  ObjectNode readJson(String json) throws SQLException {
    var object = (ObjectNode) Json.mapper().readTree(json);
    return json.contains(REFERENCE_IN_JSON) ? (ObjectNode) read(object) : object;
  }

  private JsonNode read(JsonNode json) throws SQLException {
    if (json.isString() && json.asString().startsWith(REFERENCE)) {
      var rest = json.asString().substring(REFERENCE.length());
      return StringNode.valueOf(
          rest.startsWith(REFERENCE) ? rest : find(HexFormat.of().parseHex(rest)));
    }
    if (json instanceof ObjectNode object) {
      for (var property : object.properties()) {
        property.setValue(read(property.getValue()));
      }
    } else if (json instanceof ArrayNode array) {
      for (var i = 0; i < array.size(); i++) {
        array.set(i, read(array.get(i)));
      }
    }
    return json;
  }

  /// Returns the text with this hash.
  String find(byte[] hash) throws SQLException {
    return sqlSession
        .first("SELECT text FROM texts WHERE hash = ?", row -> row.text("text"), hash)
        .orElseThrow(() -> new IllegalStateException("a text is missing from the views"));
  }

  /// Returns the column value for this text.
  static @Nullable Object column(@Nullable String text) {
    return text == null || text.length() < LONG ? text : hash(text);
  }

  /// Returns SQL for the content of a column that holds JSON or a reference to it.
  static String jsonIn(String column) {
    return "CASE typeof(%1$s) WHEN 'blob' THEN (SELECT x.text FROM texts x WHERE x.hash = %1$s) ELSE %1$s END"
        .formatted(column);
  }

  /// Removes the texts that only this context uses. The caller then removes its rows in
  /// `text_uses`.
  void forget(ContextId context) throws SQLException {
    sqlSession.update(
        """
        DELETE FROM texts WHERE hash IN (SELECT hash FROM text_uses WHERE context = ?1)
          AND NOT EXISTS (SELECT 1 FROM text_uses u INDEXED BY text_uses_by_hash
            WHERE u.hash = texts.hash AND u.context <> ?1)
        """,
        context);
  }

  private static byte[] hash(String text) {
    try {
      return Arrays.copyOf(
          MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8)),
          HASH_BYTES);
    } catch (NoSuchAlgorithmException impossible) {
      throw new IllegalStateException(impossible); // Every Java platform has it.
    }
  }
}
