package dev.parley.projection;

import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.Id;
import dev.parley.protocol.Json;
import dev.parley.protocol.WireName;
import java.nio.ByteBuffer;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// Converts our types to column values. A missing value is null.
final class ColumnValues {

  private static final int UUID_LENGTH = 36;
  private static final int UUID_BYTES = 16;

  private ColumnValues() {}

  /// Returns the 16 bytes of a UUID, as most ids are UUIDs and stand in many rows and indexes, and
  /// otherwise the text. The type of an agent is always text, because queries compare it with JSON.
  static Object of(Id id) {
    return id instanceof AgentTypeId agent ? agent.value() : id(id.value());
  }

  /// Returns the column value of an id that is not the type of an agent.
  static Object id(String text) {
    if (!isUuid(text)) {
      return text;
    }
    var uuid = UUID.fromString(text);
    return ByteBuffer.allocate(UUID_BYTES)
        .putLong(uuid.getMostSignificantBits())
        .putLong(uuid.getLeastSignificantBits())
        .array();
  }

  /// True for a UUID as [UUID#toString] writes it. Written by hand, because every value of every id
  /// column passes through it: a regular expression took a sixth of the time of the views.
  private static boolean isUuid(String text) {
    if (text.length() != UUID_LENGTH) {
      return false;
    }
    for (var i = 0; i < UUID_LENGTH; i++) {
      var c = text.charAt(i);
      var hyphen = i == 8 || i == 13 || i == 18 || i == 23;
      var hex = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
      if (hyphen ? c != '-' : !hex) {
        return false;
      }
    }
    return true;
  }

  /// Returns the text of a column value that [#id] returned.
  static String idText(byte[] uuid) {
    var bytes = ByteBuffer.wrap(uuid);
    return new UUID(bytes.getLong(), bytes.getLong()).toString();
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
