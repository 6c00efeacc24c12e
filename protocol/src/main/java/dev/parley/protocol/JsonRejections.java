package dev.parley.protocol;

import java.math.BigDecimal;
import java.time.Instant;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.UUID;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.exc.InputCoercionException;
import tools.jackson.core.exc.StreamConstraintsException;
import tools.jackson.core.exc.StreamReadException;
import tools.jackson.databind.DatabindException;
import tools.jackson.databind.exc.InvalidFormatException;
import tools.jackson.databind.exc.InvalidNullException;
import tools.jackson.databind.exc.MismatchedInputException;
import tools.jackson.databind.node.ObjectNode;

/// Converts errors of the JSON parser to rejections with messages for the caller.
///
/// Jackson's own messages contain the names of Java classes and features, so their text is not
/// used.
final class JsonRejections {

  private JsonRejections() {}

  static Rejection notAnObject() {
    return new Rejection.Invalid("invalid-json", "a JSON object is needed");
  }

  static Rejection rejection(JacksonException problem) {
    var path = path(problem);
    return switch (problem) {
      case InputCoercionException _ -> new Rejection.Invalid(path + " is out of range");
      case InvalidNullException _ -> new Rejection.Invalid(path + " is missing");
      case MismatchedInputException mismatch -> mismatch(path, mismatch);
      case DatabindException refused -> refused(path, refused);
      case StreamConstraintsException _ ->
          new Rejection.Invalid(
              "invalid-json", "this JSON is nested too deeply, or a part of it is too long");
      case StreamReadException twice when messageStartsWith(twice, "Duplicate") ->
          new Rejection.Invalid("invalid-json", "a field occurs twice" + location(twice));
      default -> new Rejection.Invalid("invalid-json", "this is not JSON" + location(problem));
    };
  }

  private static Rejection mismatch(String path, MismatchedInputException mismatch) {
    var type = mismatch.getTargetType();
    if (path.isEmpty()) {
      return messageStartsWith(mismatch, "Trailing")
          ? new Rejection.Invalid("invalid-json", "there is more than one JSON value")
          : notAnObject();
    }
    if (mismatch instanceof InvalidFormatException format
        && format.getValue() instanceof String
        && Id.class.isAssignableFrom(type)) {
      return Id.rejection(path);
    }
    return new Rejection.Invalid(path + " must be " + expected(type));
  }

  /// A record's constructor rejected values of the right types.
  private static Rejection refused(String path, DatabindException refused) {
    for (Throwable cause = refused; cause != null; cause = cause.getCause()) {
      if (cause instanceof Rejection rejection) {
        return rejection;
      }
      if (cause instanceof IllegalArgumentException outOfRange) {
        return new Rejection.Invalid((path.isEmpty() ? "" : path + ": ") + outOfRange.getMessage());
      }
    }
    throw new IllegalStateException(refused);
  }

  /// Jackson has no exception types for some problems.
  private static boolean messageStartsWith(JacksonException problem, String start) {
    return String.valueOf(problem.getOriginalMessage()).startsWith(start);
  }

  private static String expected(@Nullable Class<?> type) {
    if (type == null) {
      return "of another type";
    } else if (type == String.class || Id.class.isAssignableFrom(type)) {
      return "a string";
    } else if (type == boolean.class || type == Boolean.class) {
      return "true or false";
    } else if (List.of(int.class, Integer.class, long.class, Long.class).contains(type)) {
      return "a whole number";
    } else if (List.of(double.class, Double.class, BigDecimal.class).contains(type)) {
      return "a number";
    } else if (type == Instant.class) {
      return "a time such as 2026-11-15T10:30:00.123Z";
    } else if (type == UUID.class) {
      return "a UUID";
    } else if (type.isEnum()) {
      return "one of " + names(type);
    } else if (Collection.class.isAssignableFrom(type)) {
      return "an array";
    } else if (type.isRecord() || type == ObjectNode.class) {
      return "an object";
    }
    return "of another type";
  }

  private static String names(Class<?> type) {
    return Arrays.stream(type.getEnumConstants())
        .map(c -> c instanceof WireName wire ? wire.wire() : c.toString())
        .collect(Collectors.joining(", "));
  }

  private static String path(JacksonException problem) {
    var path = new StringBuilder();
    for (var step : problem.getPath()) {
      if (step.getPropertyName() == null) {
        path.append('[').append(step.getIndex()).append(']');
      } else {
        path.append(path.isEmpty() ? "" : ".").append(step.getPropertyName());
      }
    }
    return path.toString();
  }

  private static String location(JacksonException malformed) {
    var location = malformed.getLocation();
    return location == null || location.getLineNr() < 1
        ? ""
        : ": see line " + location.getLineNr() + ", column " + location.getColumnNr();
  }
}
