package dev.parley.projection;

import dev.parley.protocol.Id;
import dev.parley.protocol.Json;
import dev.parley.protocol.WireName;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// Converts our types to column values. A missing value is null.
final class ColumnValues {

  private ColumnValues() {}

  static @Nullable String of(@Nullable Id id) {
    return id == null ? null : id.value();
  }

  static @Nullable String of(@Nullable WireName name) {
    return name == null ? null : name.wire();
  }

  /// Returns a JSON value, a record or a list of these as JSON.
  static @Nullable String json(@Nullable Object value) {
    return value == null ? null : Json.mapper().writeValueAsString(value);
  }

  /// Returns what changes `now` into `then`: keys with their new values, or null for keys to
  /// remove.
  static ObjectNode difference(ObjectNode now, ObjectNode then) {
    var change = Json.object();
    for (var was : now.properties()) {
      if (!then.has(was.getKey())) {
        change.putNull(was.getKey());
      }
    }
    for (var becomes : then.properties()) {
      if (!becomes.getValue().equals(now.get(becomes.getKey()))) {
        change.set(becomes.getKey(), becomes.getValue());
      }
    }
    return change;
  }

  /// Returns `metadata` with the keys of `change` set, or removed where the value is null.
  static @Nullable ObjectNode merged(@Nullable ObjectNode metadata, @Nullable ObjectNode change) {
    if (metadata == null || change == null) {
      return metadata == null ? change : metadata;
    }
    var merged = metadata.deepCopy();
    change.forEachEntry(
        (key, value) -> {
          if (value.isNull()) {
            merged.remove(key);
          } else {
            merged.set(key, value);
          }
        });
    return merged;
  }
}
