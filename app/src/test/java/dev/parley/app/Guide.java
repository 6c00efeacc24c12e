package dev.parley.app;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/// A Markdown file of this repository that people read: `README.md`, or one under `docs`.
record Guide(Path path, List<String> lines) {

  private static final String FENCE = "```";

  Guide {
    lines = List.copyOf(lines);
  }

  /// A fenced block; `line` is where its text begins, `language` may be empty.
  ///
  /// `attached` is true if the block directly follows the previous one.
  record Block(String language, List<String> lines, int line, boolean attached) {
    Block {
      lines = List.copyOf(lines);
    }

    String text() {
      return String.join("\n", lines);
    }
  }

  static List<Guide> all() {
    var root = SourceFile.root();
    var docs = root.resolve("docs");
    try (var files = Files.walk(docs)) {
      return Stream.concat(Stream.of(root.resolve("README.md")), files.sorted())
          .filter(path -> path.toString().endsWith(".md"))
          .filter(path -> !path.startsWith(docs.resolve("decisions")))
          .map(Guide::read)
          .toList();
    } catch (IOException unreadable) {
      throw new UncheckedIOException(unreadable);
    }
  }

  static Guide named(String name) {
    return all().stream().filter(guide -> guide.name().equals(name)).findFirst().orElseThrow();
  }

  private static Guide read(Path path) {
    try {
      return new Guide(path, Files.readAllLines(path));
    } catch (IOException unreadable) {
      throw new UncheckedIOException(unreadable);
    }
  }

  String name() {
    return path.getFileName().toString();
  }

  String text() {
    return String.join("\n", lines);
  }

  List<Block> blocks() {
    var blocks = new ArrayList<Block>();
    var end = -1;
    for (var i = 0; i < lines.size(); i++) {
      if (lines.get(i).startsWith(FENCE)) {
        var from = i + 1;
        var to = from;
        while (!lines.get(to).equals(FENCE)) {
          to++;
        }
        var language = lines.get(i).substring(FENCE.length());
        blocks.add(new Block(language, lines.subList(from, to), from + 1, end == i - 1));
        end = to;
        i = to;
      }
    }
    return blocks;
  }

  List<Block> blocks(String language) {
    return blocks().stream().filter(block -> block.language().equals(language)).toList();
  }

  /// The anchors of this guide's headings, as GitHub generates them.
  List<String> anchors() {
    return lines.stream()
        .filter(line -> line.startsWith("#"))
        .map(line -> line.replaceFirst("^#+ ", "").toLowerCase(Locale.ROOT))
        .map(heading -> heading.replaceAll("[^\\w -]", "").replace(' ', '-'))
        .toList();
  }

  @Override
  public String toString() {
    return name();
  }
}
