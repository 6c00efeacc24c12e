package dev.parley.api.contexts.workflow;

import com.fasterxml.jackson.annotation.JsonInclude;
import dev.parley.protocol.Json;
import java.nio.ByteBuffer;
import tools.jackson.databind.PropertyNamingStrategies;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/// JSON of the workflow format: names in snake_case, nulls included. Free-form objects stay
/// unchanged.
final class SnakeCaseJson {

  private static final JsonMapper MAPPER =
      Json.mapper()
          .rebuild()
          .propertyNamingStrategy(PropertyNamingStrategies.SNAKE_CASE)
          .changeDefaultPropertyInclusion(
              inclusion -> inclusion.withValueInclusion(JsonInclude.Include.ALWAYS))
          .build();

  private SnakeCaseJson() {}

  /// The fields of a record.
  static ObjectNode tree(Object record) {
    return MAPPER.valueToTree(record);
  }

  /// The fields of two records as one object.
  static byte[] bytes(Object one, Object other) {
    var first = MAPPER.writeValueAsBytes(one);
    var second = MAPPER.writeValueAsBytes(other);
    if (second.length == 2) {
      return first;
    }
    return ByteBuffer.allocate(first.length + second.length - 1)
        .put(first, 0, first.length - 1)
        .put((byte) ',')
        .put(second, 1, second.length - 1)
        .array();
  }
}
