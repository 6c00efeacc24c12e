package dev.parley.server;

import static dev.parley.server.ConfigProblem.invalid;
import static dev.parley.server.ConfigProblem.invalidKey;
import static dev.parley.server.ConfigProblem.quoted;
import static dev.parley.server.ConfigProblem.suggestion;

import dev.parley.server.ConfigText.Mapping;
import dev.parley.server.ConfigText.Node;
import dev.parley.server.ConfigText.Place;
import dev.parley.server.ConfigText.Scalar;
import dev.parley.server.ConfigText.Sequence;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// Converts a [ConfigText] to the records of [ConfigFile], and collects all errors.
///
/// The records are the schema: their components define the allowed keys and their types.
final class ConfigBinder {

  private static final Pattern VARIABLE = Pattern.compile("\\$\\{([A-Za-z_][A-Za-z0-9_]*)}");
  private static final Pattern DURATION = Pattern.compile("(\\d{1,9})(ms|s|m|h|d)|0");

  private final Map<String, String> environment;
  private final ConfigProblems problems;

  ConfigBinder(Map<String, String> environment, ConfigProblems problems) {
    this.environment = Map.copyOf(environment);
    this.problems = problems;
  }

  ConfigFile bind(ConfigText text) {
    var root = text.root();
    var bound = root == null ? null : value(root, ConfigFile.class, "");
    return bound == null ? ConfigFile.EMPTY : (ConfigFile) bound;
  }

  /// Returns the value, or null if it is missing or invalid.
  private @Nullable Object value(Node node, Type type, String path) {
    if (node instanceof Scalar scalar && scalar.isNull()) {
      return null;
    }
    try {
      if (type instanceof ParameterizedType generic) {
        var arguments = generic.getActualTypeArguments();
        return generic.getRawType() == Map.class
            ? map(mapping(node, path), arguments[1], path)
            : list(node, arguments[0], path);
      }
      var plain = (Class<?>) type;
      return plain.isRecord()
          ? section(mapping(node, path), plain, path)
          : scalar(node, plain, path);
    } catch (ConfigProblem misfit) {
      problems.add(misfit);
      return null;
    }
  }

  private Mapping mapping(Node node, String path) {
    if (!(node instanceof Mapping mapping)) {
      throw invalid(
          path, "must have keys of its own, such as {name: value}; found " + described(node));
    }
    var places = new HashMap<String, Place>();
    for (var pair : mapping.pairs()) {
      var first = places.putIfAbsent(pair.key(), pair.place());
      if (first != null) {
        problems.add(
            invalidKey(
                ConfigText.join(path, pair.key()),
                "this key is in the section twice: in line "
                    + first.line()
                    + " and in line "
                    + pair.place().line()));
      }
    }
    return mapping;
  }

  private Object section(Mapping mapping, Class<?> type, String path) {
    var components = type.getRecordComponents();
    var values = new @Nullable Object[components.length];
    var names = Arrays.stream(components).map(RecordComponent::getName).toList();
    for (var pair : mapping.pairs()) {
      var index = names.indexOf(pair.key());
      var below = ConfigText.join(path, pair.key());
      if (index >= 0) {
        values[index] = value(pair.value(), components[index].getGenericType(), below);
      } else {
        var meant = suggestion(pair.key(), names);
        problems.add(
            invalidKey(
                below,
                "unknown key"
                    + (meant.isEmpty() ? "." : meant)
                    + " Keys here: "
                    + String.join(", ", names)));
      }
    }
    try {
      var types = Arrays.stream(components).map(RecordComponent::getType).toArray(Class<?>[]::new);
      return type.getDeclaredConstructor(types).newInstance(values);
    } catch (ReflectiveOperationException impossible) {
      throw new IllegalStateException(impossible);
    }
  }

  private Map<String, @Nullable Object> map(Mapping mapping, Type type, String path) {
    var map = new LinkedHashMap<String, @Nullable Object>();
    for (var pair : mapping.pairs()) {
      var below = ConfigText.join(path, pair.key());
      var value = value(pair.value(), type, below);
      if (value == null && type == String.class && isNull(pair.value())) {
        problems.add(invalid(below, "a value is missing"));
      }
      map.put(pair.key(), value);
    }
    return map;
  }

  private List<Object> list(Node node, Type type, String path) {
    if (!(node instanceof Sequence sequence)) {
      throw invalid(path, "must be a list, such as [one, two]; found " + described(node));
    }
    var list = new ArrayList<>();
    for (var i = 0; i < sequence.items().size(); i++) {
      var item = sequence.items().get(i);
      var below = ConfigText.join(path, ConfigText.name(item, i));
      var value = value(item, type, below);
      if (value != null) {
        list.add(value);
      } else if (isNull(item)) {
        problems.add(invalid(below, "a value is missing"));
      }
    }
    return list;
  }

  private static boolean isNull(Node node) {
    return node instanceof Scalar scalar && scalar.isNull();
  }

  private Object scalar(Node node, Class<?> type, String path) {
    if (!(node instanceof Scalar scalar)) {
      throw invalid(path, "must be " + wanted(type) + "; found " + described(node));
    }
    var text = scalar.text();
    if (type == String.class) {
      return expanded(text, path);
    }
    if (type == Duration.class) {
      return duration(expanded(text, path), path);
    }
    try {
      if (type == Integer.class) {
        return Integer.valueOf(text);
      }
      if (type == BigDecimal.class) {
        return new BigDecimal(text);
      }
    } catch (NumberFormatException noNumber) {
      throw misfit(path, type, text);
    }
    return switch (text) {
      case "true" -> true;
      case "false" -> false;
      default -> throw misfit(path, type, text);
    };
  }

  private static ConfigProblem misfit(String path, Class<?> type, String found) {
    return invalid(path, "must be " + wanted(type) + "; found " + quoted(found));
  }

  private static String wanted(Class<?> type) {
    if (type == Integer.class) {
      return "a whole number";
    }
    if (type == BigDecimal.class) {
      return "a number";
    }
    if (type == Boolean.class) {
      return "true or false";
    }
    return type == Duration.class ? "a time, such as 300ms, 5m or 30d" : "a text";
  }

  private static String described(Node node) {
    return switch (node) {
      case Mapping _ -> "a section with keys";
      case Sequence _ -> "a list";
      case Scalar scalar when scalar.token().isNumeric() -> "a number";
      case Scalar _ -> "a text";
    };
  }

  private String expanded(String text, String path) {
    return VARIABLE
        .matcher(text)
        .replaceAll(
            found -> {
              var value = environment.get(found.group(1));
              if (value == null) {
                throw invalid(
                    path,
                    "the environment variable "
                        + found.group(1)
                        + " is not set"
                        + suggestion(found.group(1), environment.keySet()));
              }
              return Matcher.quoteReplacement(value);
            });
  }

  private static Duration duration(String text, String path) {
    var parts = DURATION.matcher(text);
    if (!parts.matches()) {
      throw invalid(
          path,
          "must be a number with the unit ms, s, m, h or d, such as 300ms, 5m or 30d; found "
              + quoted(text));
    }
    if (parts.group(1) == null) {
      return Duration.ZERO;
    }
    var number = Long.parseLong(parts.group(1));
    return switch (parts.group(2)) {
      case "ms" -> Duration.ofMillis(number);
      case "s" -> Duration.ofSeconds(number);
      case "m" -> Duration.ofMinutes(number);
      case "h" -> Duration.ofHours(number);
      default -> Duration.ofDays(number);
    };
  }
}
