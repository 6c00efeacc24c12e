package dev.parley.protocol;

import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// Reads fields of metadata. A field that is missing or has an unexpected type is absent: programs
/// outside the server also write metadata.
final class MetadataFields {

  /// The client's id for a run, in the metadata of tasks, messages and answers.
  static final String RUN_ID = "runId";

  private final ObjectNode metadata;

  MetadataFields(@Nullable ObjectNode metadata) {
    this.metadata = metadata == null ? Json.object() : metadata;
  }

  boolean has(String key) {
    return metadata.has(key);
  }

  boolean isTrue(String key) {
    return metadata.path(key).asBoolean(false);
  }

  Optional<String> text(String key) {
    return Optional.of(metadata.path(key).asString("")).filter(text -> !text.isEmpty());
  }

  <T extends Id> Optional<T> id(String key, Function<String, T> type) {
    return text(key).filter(Id::valid).map(type);
  }

  <T extends Id> List<T> ids(String key, Function<String, T> type) {
    return metadata
        .path(key)
        .valueStream()
        .map(value -> value.asString(""))
        .filter(Id::valid)
        .map(type)
        .toList();
  }

  Optional<ObjectNode> object(String key) {
    return metadata.path(key) instanceof ObjectNode object ? Optional.of(object) : Optional.empty();
  }

  /// The value, or a missing node.
  JsonNode value(String key) {
    return metadata.path(key);
  }

  List<JsonNode> values(String key) {
    return metadata.path(key).valueStream().toList();
  }
}
