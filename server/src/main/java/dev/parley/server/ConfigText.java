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

/// A YAML file as a tree in which every key and value knows its line and column.
final class ConfigText {

  private static final YAMLMapper YAML = new YAMLMapper();

  /// A line and a column, both from 1.
  record Place(int line, int column) implements Comparable<Place> {
    static final Place START = new Place(1, 1);

    @Override
    public int compareTo(Place other) {
      return Comparator.comparingInt(Place::line)
          .thenComparingInt(Place::column)
          .compare(this, other);
    }
  }

  /// A value of the file.
  sealed interface Node {
    Place place();
  }

  /// A text, a number, true, false or nothing, as it is written.
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

    /// The text of a key, if it is there and is one.
    Optional<String> text(String key) {
      return find(key)
          .map(Pair::value)
          .filter(Scalar.class::isInstance)
          .map(value -> ((Scalar) value).text())
          .filter(text -> !text.isEmpty());
    }
  }

  record Pair(String key, Place place, Node value) {
    /// Where a reader looks for the value: at the value, or at the key of a longer section.
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

  /// Reads a file.
  ///
  /// @throws Rejection.Invalid if there is none, or if it is not YAML
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
            List.of(at(file, place(parser)) + "a file has one document; remove the second"));
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

  /// The whole file, or null if it is empty.
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

  /// A problem with the file, line and column in front.
  String line(ConfigProblem problem) {
    return at(file, place(problem)) + problem.getMessage();
  }

  /// The place of what a problem names, or of the nearest section above it that exists.
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
        // The last of two equal keys: the first one is never the problem.
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

  /// What paths call the item of a list: its id or name, or else its number.
  static String name(Node item, int index) {
    return item instanceof Mapping mapping
        ? mapping.text("id").or(() -> mapping.text("name")).orElse("[" + index + "]")
        : "[" + index + "]";
  }

  /// A path with one more step.
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
