package dev.parley.server;

import static dev.parley.server.ConfigProblem.invalid;
import static dev.parley.server.ConfigProblem.invalidKey;
import static dev.parley.server.ConfigProblem.quoted;
import static dev.parley.server.ConfigProblem.suggestion;

import dev.parley.server.ConfigTree.ConfigLocation;
import dev.parley.server.ConfigTree.ConfigMapping;
import dev.parley.server.ConfigTree.ConfigNode;
import dev.parley.server.ConfigTree.ConfigScalar;
import dev.parley.server.ConfigTree.ConfigSequence;
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

/// Converts a [ConfigTree] to the records of [ConfigFile], and collects all errors.
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

  ConfigFile bind(ConfigTree text) {
    var root = text.root();
    var bound = root == null ? null : value(root, ConfigFile.class, "");
    return bound == null ? ConfigFile.EMPTY : (ConfigFile) bound;
  }

  /// Returns the value, or null if it is missing or invalid.
  private @Nullable Object value(ConfigNode configNode, Type type, String path) {
    if (configNode instanceof ConfigScalar configScalar && configScalar.isNull()) {
      return null;
    }
    try {
      if (type instanceof ParameterizedType generic) {
        var arguments = generic.getActualTypeArguments();
        return generic.getRawType() == Map.class
            ? map(mapping(configNode, path), arguments[1], path)
            : list(configNode, arguments[0], path);
      }
      var plain = (Class<?>) type;
      return plain.isRecord()
          ? section(mapping(configNode, path), plain, path)
          : scalar(configNode, plain, path);
    } catch (ConfigProblem misfit) {
      problems.addUnread(misfit, path);
      return null;
    }
  }

  private ConfigMapping mapping(ConfigNode configNode, String path) {
    if (!(configNode instanceof ConfigMapping configMapping)) {
      throw invalid(
          path, "must have keys of its own, such as {name: value}; found " + described(configNode));
    }
    var places = new HashMap<String, ConfigLocation>();
    for (var configPair : configMapping.pairs()) {
      var first = places.putIfAbsent(configPair.key(), configPair.place());
      if (first != null) {
        var below = ConfigTree.join(path, configPair.key());
        problems.addUnread(
            invalidKey(
                below,
                "this key is in the section twice: in line "
                    + first.line()
                    + " and in line "
                    + configPair.place().line()),
            below);
      }
    }
    return configMapping;
  }

  private Object section(ConfigMapping configMapping, Class<?> type, String path) {
    var components = type.getRecordComponents();
    var values = new @Nullable Object[components.length];
    var names = Arrays.stream(components).map(RecordComponent::getName).toList();
    for (var configPair : configMapping.pairs()) {
      var index = names.indexOf(configPair.key());
      var below = ConfigTree.join(path, configPair.key());
      if (index >= 0) {
        values[index] = value(configPair.value(), components[index].getGenericType(), below);
      } else {
        var meant = suggestion(configPair.key(), names);
        problems.addUnread(
            invalidKey(
                below,
                "unknown key"
                    + (meant.isEmpty() ? "." : meant)
                    + " Keys here: "
                    + String.join(", ", names)),
            NameSuggestions.to(configPair.key(), names).stream()
                .map(name -> ConfigTree.join(path, name))
                .toArray(String[]::new));
      }
    }
    try {
      var types = Arrays.stream(components).map(RecordComponent::getType).toArray(Class<?>[]::new);
      return type.getDeclaredConstructor(types).newInstance(values);
    } catch (ReflectiveOperationException impossible) {
      throw new IllegalStateException(impossible);
    }
  }

  private Map<String, @Nullable Object> map(ConfigMapping configMapping, Type type, String path) {
    var map = new LinkedHashMap<String, @Nullable Object>();
    for (var configPair : configMapping.pairs()) {
      var below = ConfigTree.join(path, configPair.key());
      var value = value(configPair.value(), type, below);
      if (value == null && type == String.class && isNull(configPair.value())) {
        problems.addUnread(invalid(below, "a value is missing"), below);
      }
      if (value != null || type != String.class) {
        map.put(configPair.key(), value);
      }
    }
    return map;
  }

  private List<Object> list(ConfigNode configNode, Type type, String path) {
    if (!(configNode instanceof ConfigSequence configSequence)) {
      throw invalid(path, "must be a list, such as [one, two]; found " + described(configNode));
    }
    var list = new ArrayList<>();
    for (var i = 0; i < configSequence.items().size(); i++) {
      var item = configSequence.items().get(i);
      var below = ConfigTree.join(path, ConfigTree.name(item, i));
      var value = value(item, type, below);
      if (value != null) {
        list.add(value);
      } else if (isNull(item)) {
        problems.addUnread(invalid(below, "a value is missing"), path);
      } else {
        problems.markUnread(path);
      }
    }
    return list;
  }

  private static boolean isNull(ConfigNode configNode) {
    return configNode instanceof ConfigScalar configScalar && configScalar.isNull();
  }

  private Object scalar(ConfigNode configNode, Class<?> type, String path) {
    if (!(configNode instanceof ConfigScalar configScalar)) {
      throw invalid(path, "must be " + wanted(type) + "; found " + described(configNode));
    }
    var text = configScalar.text();
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

  private static String described(ConfigNode configNode) {
    return switch (configNode) {
      case ConfigMapping _ -> "a section with keys";
      case ConfigSequence _ -> "a list";
      case ConfigScalar configScalar when configScalar.token().isNumeric() -> "a number";
      case ConfigScalar _ -> "a text";
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
