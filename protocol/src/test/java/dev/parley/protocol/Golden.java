package dev.parley.protocol;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Objects;
import java.util.stream.Stream;
import tools.jackson.databind.node.ObjectNode;

/// The golden files: JSON that must be read and written the same for ever.
record Golden(String name, Kind kind, String json) {

  /// One for each kind, as it goes over the wire.
  static Stream<Golden> ours() {
    return Arrays.stream(Kind.values()).map(Golden::of);
  }

  /// The file of this kind. Fails if there is none.
  static Golden of(Kind kind) {
    var name = kind.wire().replace(':', '_') + ".json";
    return new Golden(name, kind, read(folder("golden").resolve(name)));
  }

  /// The examples of S5.
  static Stream<Golden> s5() {
    try (var files = Files.list(folder("golden/s5"))) {
      return files.sorted().map(Golden::example).toList().stream();
    } catch (IOException unreadable) {
      throw new UncheckedIOException(unreadable);
    }
  }

  ObjectNode tree() {
    return (ObjectNode) Json.mapper().readTree(json);
  }

  @Override
  public String toString() {
    return name;
  }

  private static Golden example(Path file) {
    var json = read(file);
    var kind = Kind.find(Json.mapper().readTree(json).get("kind").asString()).orElseThrow();
    return new Golden("s5/" + file.getFileName(), kind, json);
  }

  private static Path folder(String name) {
    try {
      return Path.of(Objects.requireNonNull(Golden.class.getResource("/" + name)).toURI());
    } catch (URISyntaxException impossible) {
      throw new AssertionError(impossible);
    }
  }

  private static String read(Path file) {
    try {
      return Files.readString(file).strip();
    } catch (IOException missing) {
      throw new UncheckedIOException("every kind needs a golden file", missing);
    }
  }
}
