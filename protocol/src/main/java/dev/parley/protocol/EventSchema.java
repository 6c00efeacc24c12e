package dev.parley.protocol;

import dev.parley.protocol.RecordIntrospector.RecordNullability;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// Derives the JSON Schema of each kind of event from the records.
public final class EventSchema {

  private static final String ID_PATTERN = "^[A-Za-z0-9._:-]{1,128}$";

  private EventSchema() {}

  /// One schema document for all events: `oneOf` over `$defs`, with one definition for each kind.
  public static ObjectNode document() {
    var document = Json.object();
    document.put("$schema", "https://json-schema.org/draft/2020-12/schema");
    document.put("title", "Parley events");
    var any = document.putArray("oneOf");
    var definitions = document.putObject("$defs");
    for (var kind : Kind.values()) {
      any.addObject().put("$ref", "#/$defs/" + kind.wire());
      definitions.set(kind.wire(), of(kind));
    }
    return document;
  }

  /// The schema of one kind: the fields of the envelope and of the event. Unknown fields are
  /// allowed.
  public static ObjectNode of(Kind kind) {
    var schema = record(kind.type());
    var properties = (ObjectNode) schema.get("properties");
    var required = schema.withArray("required");
    properties.putObject("kind").put("const", kind.wire());
    properties.putObject("seq").put("type", "integer").put("minimum", 0);
    properties.putObject("k").put("type", "integer").put("minimum", 1);
    properties.putObject("eventId").put("type", "string").put("format", "uuid");
    properties.set("timestamp", type(Instant.class));
    properties.set("contextId", type(ContextId.class));
    for (var component : Origin.class.getRecordComponents()) {
      properties.set(component.getName(), type(component.getGenericType()));
    }
    for (var name : List.of("kind", "seq", "eventId", "contextId", "timestamp")) {
      required.add(name);
    }
    return schema;
  }

  /// The schema of any record as [Json] writes it.
  public static ObjectNode record(Class<?> type) {
    var schema = Json.object().put("type", "object");
    var properties = schema.putObject("properties");
    var required = schema.putArray("required");
    for (var component : type.getRecordComponents()) {
      properties.set(component.getName(), component(component));
      if (!RecordNullability.optional(component)) {
        required.add(component.getName());
      }
    }
    return schema;
  }

  private static ObjectNode component(RecordComponent component) {
    return type(component.getGenericType());
  }

  private static ObjectNode type(Type type) {
    var schema = Json.object();
    if (type instanceof ParameterizedType list && list.getRawType() == List.class) {
      schema.put("type", "array").set("items", type(list.getActualTypeArguments()[0]));
    } else if (type instanceof Class<?> plain) {
      return plain(plain);
    } else {
      throw new IllegalStateException("no schema for " + type);
    }
    return schema;
  }

  private static ObjectNode plain(Class<?> type) {
    var schema = Json.object();
    if (type == String.class) {
      return schema.put("type", "string");
    } else if (type == boolean.class || type == Boolean.class) {
      return schema.put("type", "boolean");
    } else if (type == double.class || type == Double.class || type == BigDecimal.class) {
      return schema.put("type", "number");
    } else if (type == int.class
        || type == Integer.class
        || type == long.class
        || type == Long.class) {
      return schema.put("type", "integer");
    } else if (type == Instant.class) {
      return schema.put("type", "string").put("format", "date-time");
    } else if (type == ObjectNode.class) {
      return schema.put("type", "object");
    } else if (type == JsonNode.class) {
      return schema;
    } else if (type == Position.class) {
      schema.putArray("type").add("integer").add("string");
      return schema;
    } else if (Id.class.isAssignableFrom(type)) {
      return schema.put("type", "string").put("pattern", ID_PATTERN);
    } else if (type.isEnum()) {
      var names = schema.putArray("enum");
      Arrays.stream(type.getEnumConstants()).forEach(c -> names.add(((WireName) c).wire()));
      return schema;
    } else if (type.isRecord()) {
      return record(type);
    }
    throw new IllegalStateException("no schema for " + type);
  }
}
