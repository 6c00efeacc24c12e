package dev.parley.a2a;

import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// Reads the fields of a JSON object, and reports the path of an invalid field.
public record A2aJsonFields(ObjectNode node, String path) {

  private static final DateTimeFormatter MILLIS =
      DateTimeFormatter.ofPattern("yyyy-MM-dd'T'HH:mm:ss.SSS'Z'").withZone(ZoneOffset.UTC);

  /// The fields of a value at this path.
  ///
  /// @throws A2aException if the value is not an object
  public static A2aJsonFields of(@Nullable JsonNode value, String path) {
    if (value instanceof ObjectNode object) {
      return new A2aJsonFields(object, path);
    }
    throw A2aException.invalid(
        (path.isEmpty() ? "the parameters" : path) + ": an object is needed");
  }

  private String at(String name) {
    return path.isEmpty() ? name : path + "." + name;
  }

  /// The value, or null if it is missing or a JSON null.
  @Nullable JsonNode value(String name) {
    var value = node.get(name);
    return value == null || value.isNull() ? null : value;
  }

  boolean has(String name) {
    return value(name) != null;
  }

  @Nullable String text(String name) {
    var value = value(name);
    if (value == null) {
      return null;
    }
    if (!value.isString()) {
      throw A2aException.invalid(at(name) + ": a string is needed");
    }
    return value.stringValue();
  }

  /// A non-empty string, or null: in ProtoJSON an empty string means that the field is not set.
  public @Nullable String nonEmptyText(String name) {
    var text = text(name);
    return text == null || text.isEmpty() ? null : text;
  }

  public String requiredText(String name) {
    var text = nonEmptyText(name);
    if (text == null) {
      throw A2aException.invalid(at(name) + ": is needed");
    }
    return text;
  }

  public boolean flag(String name, boolean otherwise) {
    var value = value(name);
    if (value == null) {
      return otherwise;
    }
    if (!value.isBoolean()) {
      throw A2aException.invalid(at(name) + ": true or false is needed");
    }
    return value.booleanValue();
  }

  @Nullable Integer integer(String name) {
    var value = value(name);
    if (value == null) {
      return null;
    }
    if (!value.isIntegralNumber() || !value.canConvertToInt()) {
      throw A2aException.invalid(at(name) + ": a whole number is needed");
    }
    return value.intValue();
  }

  /// A whole number that is not negative, or null.
  public @Nullable Integer nonNegative(String name) {
    var value = value(name);
    if (value == null) {
      return null;
    }
    if (!value.isIntegralNumber() || !value.canConvertToInt() || value.intValue() < 0) {
      throw A2aException.invalid(at(name) + ": a whole number that is not negative is needed");
    }
    return value.intValue();
  }

  @Nullable ObjectNode object(String name) {
    var value = value(name);
    return value == null ? null : of(value, at(name)).node();
  }

  A2aJsonFields fields(String name) {
    return of(value(name), at(name));
  }

  /// The items of a list, each parsed by `read`; empty if the list is missing.
  <T> List<T> list(String name, BiFunction<@Nullable JsonNode, String, T> read) {
    var value = value(name);
    var all = new ArrayList<T>();
    if (value == null) {
      return all;
    }
    if (!value.isArray()) {
      throw A2aException.invalid(at(name) + ": a list is needed");
    }
    for (var i = 0; i < value.size(); i++) {
      all.add(read.apply(value.get(i), at(name) + "[" + i + "]"));
    }
    return all;
  }

  List<String> texts(String name) {
    return list(
        name,
        (value, where) -> {
          if (value == null || !value.isString()) {
            throw A2aException.invalid(where + ": a string is needed");
          }
          return value.stringValue();
        });
  }

  public @Nullable Instant time(String name) {
    var text = nonEmptyText(name);
    if (text == null) {
      return null;
    }
    try {
      return OffsetDateTime.parse(text).toInstant();
    } catch (DateTimeParseException _) {
      throw A2aException.invalid(at(name) + ": a time such as 2026-01-31T12:00:00Z is needed");
    }
  }

  /// Sets a field unless there are no values.
  static void putAll(ObjectNode object, String name, List<? extends JsonNode> values) {
    if (!values.isEmpty()) {
      object.putArray(name).addAll(values);
    }
  }

  static void putTexts(ObjectNode object, String name, List<String> values) {
    if (!values.isEmpty()) {
      var list = object.putArray(name);
      values.forEach(list::add);
    }
  }

  /// Formats a time in UTC, with milliseconds.
  static String formatTime(Instant time) {
    return MILLIS.format(time);
  }
}
