package dev.parley.tool;

import dev.parley.protocol.Json;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.WireName;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// The JSON Schema of the arguments of a tool, derived from their record.
public final class ArgumentsSchema {

  /// Computed once: each task needs the schemas of all tools, and the JDK parses type annotations
  /// again each time.
  private static final ClassValue<ObjectNode> SCHEMAS =
      new ClassValue<>() {
        @Override
        protected ObjectNode computeValue(Class<?> arguments) {
          return read(arguments);
        }
      };

  private ArgumentsSchema() {}

  /// The schema of `arguments`; components that are not `@Nullable` are required. All callers share
  /// it and must not change it: every task needs the schemas of all tools of its agent. A tool whose
  /// schema has more makes a copy.
  public static ObjectNode of(Class<? extends Record> arguments) {
    return SCHEMAS.get(arguments);
  }

  private static ObjectNode read(Class<?> arguments) {
    var schema = Json.object().put("type", "object");
    var properties = schema.putObject("properties");
    var required = schema.putArray("required");
    for (var component : arguments.getRecordComponents()) {
      properties.set(component.getName(), type(component.getGenericType()));
      if (!optional(component)) {
        required.add(component.getName());
      }
    }
    return schema.put("additionalProperties", false);
  }

  /// Reads the arguments of a call, whose names and types must match the schema.
  ///
  /// @throws Rejection.Invalid if they do not, with the reason
  static <A extends Record> A read(ObjectNode given, Class<A> arguments) {
    var known = Arrays.stream(arguments.getRecordComponents()).map(c -> c.getName()).toList();
    for (var name : given.propertyNames()) {
      if (!known.contains(name)) {
        throw new Rejection.Invalid(
            "there is no argument " + name + "; there are: " + String.join(", ", known));
      }
    }
    return Json.read(given, arguments);
  }

  private static boolean optional(RecordComponent component) {
    return component.getAnnotatedType().isAnnotationPresent(Nullable.class);
  }

  private static ObjectNode type(Type type) {
    if (type instanceof ParameterizedType list && list.getRawType() == List.class) {
      var schema = Json.object().put("type", "array");
      schema.set("items", type(list.getActualTypeArguments()[0]));
      return schema;
    }
    if (type == String.class) {
      return Json.object().put("type", "string");
    }
    if (type == Integer.class || type == int.class || type == Long.class || type == long.class) {
      return Json.object().put("type", "integer");
    }
    if (type == Boolean.class || type == boolean.class) {
      return Json.object().put("type", "boolean");
    }
    if (type == Double.class || type == double.class) {
      return Json.object().put("type", "number");
    }
    if (type instanceof Class<?> choice && choice.isEnum()) {
      var schema = Json.object().put("type", "string");
      var names = schema.putArray("enum");
      for (var constant : choice.getEnumConstants()) {
        names.add(constant instanceof WireName named ? named.wire() : constant.toString());
      }
      return schema;
    }
    if (type == ObjectNode.class) {
      return Json.object().put("type", "object");
    }
    throw new IllegalArgumentException("no schema for " + type);
  }
}
