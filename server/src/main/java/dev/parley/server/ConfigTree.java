package dev.parley.server;

import static dev.parley.server.ConfigProblem.invalid;

import dev.parley.protocol.Rejection;
import java.io.IOException;
import java.nio.charset.MalformedInputException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.snakeyaml.engine.v2.exceptions.MarkedYamlEngineException;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonToken;
import tools.jackson.core.TokenStreamLocation;
import tools.jackson.dataformat.yaml.YAMLMapper;
import tools.jackson.dataformat.yaml.YAMLParser;

/// A YAML file as a tree. Every key and value has its line and column.
final class ConfigTree {

  private static final YAMLMapper YAML = new YAMLMapper();

  /// How the parser names a tab in its messages.
  private static final String TAB = "(TAB)";

  /// A line and a column, both starting at 1.
  record ConfigLocation(int line, int column) implements Comparable<ConfigLocation> {
    static final ConfigLocation START = new ConfigLocation(1, 1);

    @Override
    public int compareTo(ConfigLocation other) {
      return Comparator.comparingInt(ConfigLocation::line)
          .thenComparingInt(ConfigLocation::column)
          .compare(this, other);
    }
  }

  /// A value in the file.
  sealed interface ConfigNode {
    ConfigLocation place();
  }

  /// A text, a number, true, false or null, as it is written.
  record ConfigScalar(JsonToken token, String text, ConfigLocation place) implements ConfigNode {
    boolean isNull() {
      return token == JsonToken.VALUE_NULL || text.equals("~");
    }
  }

  record ConfigSequence(List<ConfigNode> items, ConfigLocation place) implements ConfigNode {}

  record ConfigMapping(List<ConfigPair> pairs, ConfigLocation place) implements ConfigNode {
    Optional<ConfigPair> find(String key) {
      return pairs.stream().filter(configPair -> configPair.key().equals(key)).findFirst();
    }

    /// Returns the text of a key, or empty if the key is missing or has no text.
    Optional<String> text(String key) {
      return find(key)
          .map(ConfigPair::value)
          .filter(ConfigScalar.class::isInstance)
          .map(value -> ((ConfigScalar) value).text())
          .filter(text -> !text.isEmpty());
    }
  }

  record ConfigPair(String key, ConfigLocation place, ConfigNode value) {
    /// Returns the location to report: that of a scalar value, or else that of the key.
    ConfigLocation shown() {
      return value instanceof ConfigScalar configScalar && !configScalar.isNull()
          ? configScalar.place()
          : place;
    }
  }

  private final Path file;
  private final @Nullable ConfigNode root;

  private ConfigTree(Path file, @Nullable ConfigNode root) {
    this.file = file;
    this.root = root;
  }

  /// Parses a file.
  ///
  /// @throws Rejection.Invalid if the file is missing or is not YAML
  static ConfigTree read(Path file) {
    String text;
    try {
      text = Files.readString(file);
    } catch (NoSuchFileException missing) {
      throw invalid("", "there is no file " + file).rejection();
    } catch (MalformedInputException binary) {
      throw invalid("", file + " is not a text in UTF-8").rejection();
    } catch (IOException unreadable) {
      throw invalid("", "cannot read " + file + ": " + unreadable.getMessage()).rejection();
    }
    try (var parser = (YAMLParser) YAML.createParser(text)) {
      var root = parser.nextToken() == null ? null : node(parser);
      if (root != null && parser.nextToken() != null) {
        throw ConfigProblem.rejection(
            List.of(at(file, place(parser)) + "only one document is allowed; remove the second"));
      }
      return new ConfigTree(file, root);
    } catch (ConfigProblem alias) {
      throw ConfigProblem.rejection(List.of(file + ":" + alias.getMessage()));
    } catch (JacksonException malformed) {
      throw ConfigProblem.rejection(List.of(notYaml(file, malformed)));
    }
  }

  /// Describes a syntax error. The location of the exception itself is only that of the last token
  /// before the error.
  private static String notYaml(Path file, JacksonException malformed) {
    if (malformed.getCause() instanceof MarkedYamlEngineException exact
        && exact.getProblemMark().isPresent()) {
      var mark = exact.getProblemMark().get();
      var place = new ConfigLocation(mark.getLine() + 1, mark.getColumn() + 1);
      var problem =
          String.valueOf(exact.getProblem()).replace("<stream end>", "the end of the file");
      if (problem.contains(TAB)) {
        return at(file, place) + "this is not YAML: a tab is not allowed here; use spaces";
      }
      var context = exact.getContext() == null ? "" : ", " + exact.getContext();
      var begin =
          exact.getContextMark().map(from -> " that begins in line " + (from.getLine() + 1));
      return at(file, place) + "this is not YAML: " + problem + context + begin.orElse("");
    }
    var reason = String.valueOf(malformed.getOriginalMessage()).lines().findFirst().orElse("");
    return at(file, place(malformed.getLocation())) + "this is not YAML: " + reason;
  }

  /// Returns the root, or null if the file is empty.
  @Nullable ConfigNode root() {
    return root;
  }

  private static ConfigNode node(YAMLParser parser) {
    var configLocation = place(parser);
    if (parser.isCurrentAlias()) {
      throw invalid(
          configLocation.line() + ":" + configLocation.column(),
          "aliases (*NAME) are not supported");
    }
    return switch (parser.currentToken()) {
      case START_OBJECT -> {
        var pairs = new ArrayList<ConfigPair>();
        while (parser.nextToken() != JsonToken.END_OBJECT) {
          var key = parser.currentName();
          var keyPlace = place(parser);
          parser.nextToken();
          pairs.add(new ConfigPair(key, keyPlace, node(parser)));
        }
        yield new ConfigMapping(List.copyOf(pairs), configLocation);
      }
      case START_ARRAY -> {
        var items = new ArrayList<ConfigNode>();
        while (parser.nextToken() != JsonToken.END_ARRAY) {
          items.add(node(parser));
        }
        yield new ConfigSequence(List.copyOf(items), configLocation);
      }
      default -> {
        var text = parser.getString();
        yield new ConfigScalar(parser.currentToken(), text == null ? "" : text, configLocation);
      }
    };
  }

  private static ConfigLocation place(YAMLParser parser) {
    return place(parser.currentTokenLocation());
  }

  private static ConfigLocation place(@Nullable TokenStreamLocation location) {
    return location == null || location.getLineNr() < 1
        ? ConfigLocation.START
        : new ConfigLocation(location.getLineNr(), Math.max(1, location.getColumnNr()));
  }

  private static String at(Path file, ConfigLocation configLocation) {
    return file + ":" + configLocation.line() + ":" + configLocation.column() + ": ";
  }

  /// Returns a problem with file, line and column in front.
  String line(ConfigProblem problem) {
    return at(file, place(problem)) + problem.text();
  }

  /// Returns the location of the key that a problem names, or of the nearest section above it.
  ConfigLocation place(ConfigProblem problem) {
    var configNode = root;
    var configLocation = root == null ? ConfigLocation.START : root.place();
    var rest = problem.location();
    while (configNode != null && !rest.isEmpty()) {
      var step = step(configNode, rest);
      if (step == null) {
        return configLocation;
      }
      configLocation = problem.ofKey() || !step.rest().isEmpty() ? step.place() : step.shown();
      configNode = step.node();
      rest = step.rest();
    }
    return configLocation;
  }

  private record Step(ConfigNode node, ConfigLocation place, ConfigLocation shown, String rest) {}

  private static @Nullable Step step(ConfigNode configNode, String path) {
    return switch (configNode) {
      case ConfigScalar _ -> null;
      case ConfigMapping configMapping -> {
        // The last of two equal keys, because the second one is reported.
        Step found = null;
        for (var configPair : configMapping.pairs()) {
          var rest = rest(path, configPair.key());
          if (rest != null) {
            found = new Step(configPair.value(), configPair.place(), configPair.shown(), rest);
          }
        }
        yield found;
      }
      case ConfigSequence configSequence -> {
        for (var i = 0; i < configSequence.items().size(); i++) {
          var item = configSequence.items().get(i);
          var named = rest(path, name(item, i));
          var rest = named == null ? rest(path, "[" + i + "]") : named;
          if (rest != null) {
            yield new Step(item, item.place(), item.place(), rest);
          }
        }
        yield null;
      }
    };
  }

  /// Returns the name of a list item in paths: its id, its name, or else its index.
  static String name(ConfigNode item, int index) {
    return item instanceof ConfigMapping configMapping
        ? configMapping.text("id").or(() -> configMapping.text("name")).orElse("[" + index + "]")
        : "[" + index + "]";
  }

  /// Appends a step or several steps to a path.
  static String join(String path, String step) {
    return path.isEmpty() || step.isEmpty() || step.startsWith("[")
        ? path + step
        : path + "." + step;
  }

  private static @Nullable String rest(String path, String step) {
    if (!path.startsWith(step)) {
      return null;
    }
    var rest = path.substring(step.length());
    if (rest.isEmpty() || rest.startsWith("[")) {
      return rest;
    }
    return rest.startsWith(".") ? rest.substring(1) : null;
  }
}
