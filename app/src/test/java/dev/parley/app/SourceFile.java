package dev.parley.app;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntPredicate;
import java.util.regex.Pattern;
import java.util.stream.IntStream;

/// A Java file of this repository, as text.
record SourceFile(Path path, String module, boolean test, List<String> lines) {

  private static final Pattern PACKAGE = Pattern.compile("^package ([\\w.]+);");
  private static final Pattern IMPORT =
      Pattern.compile("^import (?:static )?([\\w.]+)(?:\\.\\*)?;");

  SourceFile {
    lines = List.copyOf(lines);
  }

  /// All Java files below `src/main/java` and `src/test/java` of every module.
  static List<SourceFile> all() {
    var root = root();
    var files = new ArrayList<SourceFile>();
    for (var module :
        List.of(
            "protocol",
            "client",
            "server",
            "offline",
            "compat/workflow",
            "compat/kagent",
            "compat/chat",
            "compat/agents",
            "compat/openai",
            "compat/mcp",
            "app",
            "benchmarks")) {
      files.addAll(below(root, module, false));
      files.addAll(below(root, module, true));
    }
    return files;
  }

  boolean main() {
    return !test;
  }

  String fileName() {
    return path.getFileName().toString();
  }

  /// Its package, or the empty string for a `module-info.java`.
  String packageName() {
    return lines.stream()
        .map(PACKAGE::matcher)
        .filter(matcher -> matcher.find())
        .map(matcher -> matcher.group(1))
        .findFirst()
        .orElse("");
  }

  /// The packages of ours that it imports from.
  List<String> importedPackages() {
    return lines.stream()
        .map(IMPORT::matcher)
        .filter(matcher -> matcher.find())
        .map(matcher -> matcher.group(1))
        .filter(name -> name.startsWith("dev.parley."))
        .map(SourceFile::withoutTypes)
        .distinct()
        .toList();
  }

  /// The lines that match `pattern`, each with its place.
  List<String> find(Pattern pattern) {
    return places(line -> pattern.matcher(lines.get(line)).find());
  }

  /// The lines of code, not of comments, that match `pattern`, each with its place.
  List<String> findInCode(Pattern pattern) {
    return places(line -> isCode(line) && pattern.matcher(lines.get(line)).find());
  }

  /// The lines, counted from zero, that fulfil `condition`, each with its place.
  List<String> places(IntPredicate condition) {
    return IntStream.range(0, lines.size())
        .filter(condition)
        .mapToObj(line -> path + ":" + (line + 1) + ": " + lines.get(line).strip())
        .toList();
  }

  private boolean isCode(int line) {
    var text = lines.get(line).strip();
    return !text.startsWith("//") && !text.startsWith("*") && !text.startsWith("/*");
  }

  private static String withoutTypes(String name) {
    var end = name.length();
    for (var dot = name.indexOf('.'); dot >= 0; dot = name.indexOf('.', dot + 1)) {
      if (dot + 1 < name.length() && Character.isUpperCase(name.charAt(dot + 1))) {
        end = dot;
        break;
      }
    }
    return name.substring(0, end);
  }

  private static List<SourceFile> below(Path root, String module, boolean test) {
    var folder = root.resolve(module, "src", test ? "test" : "main", "java");
    if (!Files.isDirectory(folder)) {
      return List.of();
    }
    try (var paths = Files.walk(folder)) {
      return paths
          .filter(path -> path.toString().endsWith(".java"))
          .sorted()
          .map(path -> new SourceFile(root.relativize(path), module, test, linesOf(path)))
          .toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static List<String> linesOf(Path path) {
    try {
      return Files.readAllLines(path);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /// The folder of the repository.
  static Path root() {
    var folder = Path.of("").toAbsolutePath();
    while (folder != null && !Files.exists(folder.resolve("LICENSE"))) {
      folder = folder.getParent();
    }
    if (folder == null) {
      throw new IllegalStateException("the tests run outside of the repository");
    }
    return folder;
  }
}
