package dev.parley.protocol;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Objects;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import tools.jackson.databind.node.ObjectNode;

/// A golden file: JSON that must always be read and written in the same way.
record GoldenFile(String name, Kind kind, String json) {

  /// At least one file for each kind, in the wire format.
  static Stream<GoldenFile> ours() {
    return Arrays.stream(Kind.values()).flatMap(GoldenFile::versions);
  }

  /// The newest file of this kind. Fails if there is none.
  static GoldenFile of(Kind kind) {
    return versions(kind).reduce((_, newer) -> newer).orElseThrow();
  }

  /// A kind with later fields has further files, with `-2`, `-3` and so on after the name.
  private static Stream<GoldenFile> versions(Kind kind) {
    var name = kind.wire().replace(':', '_');
    var later =
        IntStream.iterate(2, n -> n + 1)
            .mapToObj(n -> name + "-" + n + ".json")
            .takeWhile(file -> Files.exists(folder("golden").resolve(file)));
    return Stream.concat(Stream.of(name + ".json"), later)
        .map(file -> new GoldenFile(file, kind, read(folder("golden").resolve(file))));
  }

  /// The examples of Looopy's protocol.
  static Stream<GoldenFile> looopy() {
    try (var files = Files.list(folder("golden/looopy"))) {
      return files.sorted().map(GoldenFile::example).toList().stream();
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

  private static GoldenFile example(Path file) {
    var json = read(file);
    var kind = Kind.find(Json.mapper().readTree(json).get("kind").asString()).orElseThrow();
    return new GoldenFile("looopy/" + file.getFileName(), kind, json);
  }

  private static Path folder(String name) {
    try {
      return Path.of(Objects.requireNonNull(GoldenFile.class.getResource("/" + name)).toURI());
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
