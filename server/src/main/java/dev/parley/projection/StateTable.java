package dev.parley.projection;

import dev.parley.protocol.ContextEvent.StateUpdated;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Entry;
import dev.parley.protocol.Json;
import java.sql.SQLException;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// One row per change of a key of the context's state, so that a rewind can undo it.
///
/// The last active change is the key's value; null means that the key was removed. Rewinds do not
/// affect keys that begin with `app:` or `user:`, because other contexts share them.
final class StateTable {

  private static final String ACTIVE = "(rewound = 0 OR key LIKE 'app:%' OR key LIKE 'user:%')";

  private record Change(String key, @Nullable JsonNode value) {}

  private final SqlSession sqlSession;
  private final TextTable texts;

  StateTable(SqlSession sqlSession, TextTable texts) {
    this.sqlSession = sqlSession;
    this.texts = texts;
  }

  void update(Entry entry, StateUpdated updated) throws SQLException {
    for (var change : updated.delta().properties()) {
      sqlSession.update(
          "INSERT INTO state (context, seq, key, value) VALUES (?, ?, ?, ?)",
          entry.contextId(),
          entry.position().seq(),
          change.getKey(),
          change.getValue().isNull()
              ? null
              : texts.put(entry.contextId(), ColumnValues.json(change.getValue())));
    }
  }

  /// Returns all keys that have a value, sorted by name.
  ObjectNode now(ContextId context) throws SQLException {
    return object(
        sqlSession.list(
            "SELECT key, value, max(seq) FROM state WHERE context = ? AND "
                + ACTIVE
                + " GROUP BY key ORDER BY key",
            StateTable::change,
            context));
  }

  /// Returns the changes that restore the state to what it was when only these ranges were active.
  ObjectNode differenceTo(ContextId context, List<RewindTable.SeqRange> counted)
      throws SQLException {
    var then = Json.object();
    for (var seqRange : counted) {
      sqlSession
          .list(
              "SELECT key, value, max(seq) FROM state"
                  + " WHERE context = ? AND seq BETWEEN ? AND ? GROUP BY key",
              StateTable::change,
              context,
              seqRange.first(),
              seqRange.last())
          .forEach(change -> set(then, change));
    }
    var now = now(context);
    List.of(now, then).forEach(state -> state.remove(sharedKeys(state)));
    return ColumnValues.difference(now, then);
  }

  private static List<String> sharedKeys(ObjectNode state) {
    return state.propertyNames().stream()
        .filter(key -> key.startsWith("app:") || key.startsWith("user:"))
        .toList();
  }

  private static Change change(Row row) throws SQLException {
    return new Change(row.text("key"), row.optionalLongJson("value"));
  }

  private static ObjectNode object(List<Change> changes) {
    var object = Json.object();
    changes.forEach(change -> set(object, change));
    return object;
  }

  private static void set(ObjectNode object, Change change) {
    if (change.value() == null) {
      object.remove(change.key());
    } else {
      object.set(change.key(), change.value());
    }
  }
}
