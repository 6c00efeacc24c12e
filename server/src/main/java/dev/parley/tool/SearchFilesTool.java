package dev.parley.tool;

import dev.parley.protocol.Json;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ArrayNode;

/// `search_files`: finds the lines of text files that contain a text.
public final class SearchFilesTool extends BuiltInTool<SearchFilesTool.Arguments> {

  private static final String DESCRIPTION =
      "Finds lines that contain text, ignoring case, in the text files of the working directory and"
          + " its subfolders, or of the folder at path. pattern selects file names, as in"
          + " list_files. Returns {matches: [{path, line, text}]}.";

  private static final int MATCHES_MAX = 100;
  private static final int LINE_MAX = 300;
  private static final long FILE_MAX = 2 * 1024 * 1024;

  /// The text to find, the folder, and the pattern of file names.
  public record Arguments(String text, @Nullable String path, @Nullable String pattern) {}

  private final FileAccess access;

  public SearchFilesTool() {
    this(FileAccess.WITHOUT_SERVER);
  }

  /// With access to the folders of `access` only.
  public SearchFilesTool(FileAccess access) {
    super("search_files", Effect.PURE, Arguments.class, DESCRIPTION);
    this.access = access;
  }

  @Override
  public ToolResult call(Arguments arguments, ToolContext context) throws InterruptedException {
    if (arguments.text().isBlank()) {
      return new ToolResult.Failed("text must not be blank");
    }
    var workingDirectory = new WorkingDirectory(access, context);
    var path = arguments.path() == null ? "." : arguments.path();
    var pattern = Glob.ofNames(arguments.pattern() == null ? "*" : arguments.pattern());
    var result = Json.object();
    var matches = result.putArray("matches");
    try {
      var files =
          FileFinder.find(workingDirectory, workingDirectory.find(path), FileFinder.DEPTH_MAX)
              .stream()
              .filter(file -> pattern.matches(file.name()))
              .filter(file -> file.attributes().isRegularFile())
              .filter(file -> file.attributes().size() <= FILE_MAX)
              .map(FileFinder.FoundFile::path)
              .toList();
      for (var i = 0; i < files.size() && matches.size() < MATCHES_MAX; i++) {
        search(workingDirectory, files.get(i), arguments.text(), matches);
        if (i % 100 == 99) {
          context.steps(i + 1 + " files searched", i + 1, files.size());
        }
        if (Thread.interrupted()) {
          throw new InterruptedException();
        }
      }
    } catch (IOException unreadable) {
      return new ToolResult.Failed(TextFile.reason(path, unreadable));
    }
    if (matches.size() >= MATCHES_MAX) {
      result.put("note", "There may be more; the search stopped after " + MATCHES_MAX + " lines.");
    }
    return new ToolResult.Done(result);
  }

  private static void search(
      WorkingDirectory workingDirectory, Path file, String text, ArrayNode matches) {
    var wanted = text.toLowerCase(Locale.ROOT);
    try {
      var lines = TextFile.read(workingDirectory, file).lines().toList();
      for (var i = 0; i < lines.size() && matches.size() < MATCHES_MAX; i++) {
        var line = lines.get(i);
        if (line.toLowerCase(Locale.ROOT).contains(wanted)) {
          matches
              .addObject()
              .put("path", workingDirectory.displayName(file))
              .put("line", i + 1)
              .put("text", line.length() > LINE_MAX ? line.substring(0, LINE_MAX) + "…" : line);
        }
      }
    } catch (IOException unreadable) {
      // A search skips files that it cannot read, such as binary files.
    }
  }
}
