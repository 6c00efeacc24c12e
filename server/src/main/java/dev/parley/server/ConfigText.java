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
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonToken;
import tools.jackson.core.TokenStreamLocation;
import tools.jackson.dataformat.yaml.YAMLMapper;
import tools.jackson.dataformat.yaml.YAMLParser;

/// A YAML file as a tree. Every key and value has its line and column.
final class ConfigText {

  private static final YAMLMapper YAML = new YAMLMapper();

  /// A line and a column, both starting at 1.
  record Place(int line, int column) implements Comparable<Place> {
    static final Place START = new Place(1, 1);

    @Override
    public int compareTo(Place other) {
      return Comparator.comparingInt(Place::line)
          .thenComparingInt(Place::column)
          .compare(this, other);
    }
  }

  /// A value in the file.
  sealed interface Node {
    Place place();
  }

  /// A text, a number, true, false or null, as it is written.
  record Scalar(JsonToken token, String text, Place place) implements Node {
    boolean isNull() {
      return token == JsonToken.VALUE_NULL || text.equals("~");
    }
  }

  record Sequence(List<Node> items, Place place) implements Node {}

  record Mapping(List<Pair> pairs, Place place) implements Node {
    Optional<Pair> find(String key) {
      return pairs.stream().filter(pair -> pair.key().equals(key)).findFirst();
    }

    /// Returns the text of a key, or empty if the key is missing or has no text.
    Optional<String> text(String key) {
      return find(key)
          .map(Pair::value)
          .filter(Scalar.class::isInstance)
          .map(value -> ((Scalar) value).text())
          .filter(text -> !text.isEmpty());
    }
  }

  record Pair(String key, Place place, Node value) {
    /// Returns the location to report: that of a scalar value, or else that of the key.
    Place shown() {
      return value instanceof Scalar scalar && !scalar.isNull() ? scalar.place() : place;
    }
  }

  private final Path file;
  private final @Nullable Node root;

  private ConfigText(Path file, @Nullable Node root) {
    this.file = file;
    this.root = root;
  }

  /// Parses a file.
  ///
  /// @throws Rejection.Invalid if the file is missing or is not YAML
  static ConfigText read(Path file) {
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
      return new ConfigText(file, root);
    } catch (ConfigProblem alias) {
      throw ConfigProblem.rejection(List.of(file + ":" + alias.getMessage()));
    } catch (JacksonException malformed) {
      var reason = String.valueOf(malformed.getOriginalMessage()).lines().findFirst().orElse("");
      throw ConfigProblem.rejection(
          List.of(at(file, place(malformed.getLocation())) + "this is not YAML: " + reason));
    }
  }

  /// Returns the root, or null if the file is empty.
  @Nullable Node root() {
    return root;
  }

  private static Node node(YAMLParser parser) {
    var place = place(parser);
    if (parser.isCurrentAlias()) {
      throw invalid(place.line() + ":" + place.column(), "aliases (*NAME) are not supported");
    }
    return switch (parser.currentToken()) {
      case START_OBJECT -> {
        var pairs = new ArrayList<Pair>();
        while (parser.nextToken() != JsonToken.END_OBJECT) {
          var key = parser.currentName();
          var keyPlace = place(parser);
          parser.nextToken();
          pairs.add(new Pair(key, keyPlace, node(parser)));
        }
        yield new Mapping(List.copyOf(pairs), place);
      }
      case START_ARRAY -> {
        var items = new ArrayList<Node>();
        while (parser.nextToken() != JsonToken.END_ARRAY) {
          items.add(node(parser));
        }
        yield new Sequence(List.copyOf(items), place);
      }
      default -> {
        var text = parser.getString();
        yield new Scalar(parser.currentToken(), text == null ? "" : text, place);
      }
    };
  }

  private static Place place(YAMLParser parser) {
    return place(parser.currentTokenLocation());
  }

  private static Place place(@Nullable TokenStreamLocation location) {
    return location == null || location.getLineNr() < 1
        ? Place.START
        : new Place(location.getLineNr(), Math.max(1, location.getColumnNr()));
  }

  private static String at(Path file, Place place) {
    return file + ":" + place.line() + ":" + place.column() + ": ";
  }

  /// Returns a problem with file, line and column in front.
  String line(ConfigProblem problem) {
    return at(file, place(problem)) + problem.getMessage();
  }

  /// Returns the location of the key that a problem names, or of the nearest section above it.
  Place place(ConfigProblem problem) {
    var node = root;
    var place = root == null ? Place.START : root.place();
    var rest = problem.path();
    while (node != null && !rest.isEmpty()) {
      var step = step(node, rest);
      if (step == null) {
        return place;
      }
      place = problem.ofKey() || !step.rest().isEmpty() ? step.place() : step.shown();
      node = step.node();
      rest = step.rest();
    }
    return place;
  }

  private record Step(Node node, Place place, Place shown, String rest) {}

  private static @Nullable Step step(Node node, String path) {
    return switch (node) {
      case Scalar _ -> null;
      case Mapping mapping -> {
        // The last of two equal keys, because the second one is reported.
        Step found = null;
        for (var pair : mapping.pairs()) {
          var rest = rest(path, pair.key());
          if (rest != null) {
            found = new Step(pair.value(), pair.place(), pair.shown(), rest);
          }
        }
        yield found;
      }
      case Sequence sequence -> {
        for (var i = 0; i < sequence.items().size(); i++) {
          var item = sequence.items().get(i);
          var rest = rest(path, name(item, i));
          if (rest != null) {
            yield new Step(item, item.place(), item.place(), rest);
          }
        }
        yield null;
      }
    };
  }

  /// Returns the name of a list item in paths: its id, its name, or else its index.
  static String name(Node item, int index) {
    return item instanceof Mapping mapping
        ? mapping.text("id").or(() -> mapping.text("name")).orElse("[" + index + "]")
        : "[" + index + "]";
  }

  /// Appends a step to a path.
  static String join(String path, String step) {
    return path.isEmpty() || step.startsWith("[") ? path + step : path + "." + step;
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
