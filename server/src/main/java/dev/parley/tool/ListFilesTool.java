package dev.parley.tool;

import dev.parley.protocol.Json;
import java.io.IOException;
import java.nio.file.NotDirectoryException;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// `list_files`: lists the content of a folder.
public final class ListFilesTool extends BuiltInTool<ListFilesTool.Arguments> {

  private static final String DESCRIPTION =
      "Lists the files and folders of the working directory, or of the folder at path. pattern"
          + " selects names: * matches any characters, ? matches one, and case is ignored."
          + " recursive includes subfolders. Returns {entries: [{path, type, size}]}.";

  private static final int ENTRIES_MAX = 500;

  /// The folder, the pattern of names, and whether to include subfolders.
  public record Arguments(
      @Nullable String path, @Nullable String pattern, @Nullable Boolean recursive) {}

  private final FileAccess access;

  public ListFilesTool() {
    this(FileAccess.WITHOUT_SERVER);
  }

  /// With access to the folders of `access` only.
  public ListFilesTool(FileAccess access) {
    super("list_files", Effect.PURE, Arguments.class, DESCRIPTION);
    this.access = access;
  }

  @Override
  public ToolResult call(Arguments arguments, ToolContext context) throws InterruptedException {
    var workingDirectory = new WorkingDirectory(access, context);
    var path = arguments.path() == null ? "." : arguments.path();
    try {
      var top = workingDirectory.find(path);
      var depth = Boolean.TRUE.equals(arguments.recursive()) ? FileFinder.DEPTH_MAX : 1;
      var pattern = Glob.ofNames(arguments.pattern() == null ? "*" : arguments.pattern());
      var found =
          FileFinder.find(workingDirectory, top, depth).stream()
              .filter(entry -> pattern.matches(entry.name()))
              .limit(ENTRIES_MAX + 1L)
              .toList();
      return new ToolResult.Done(result(workingDirectory, found));
    } catch (NotDirectoryException file) {
      return new ToolResult.Failed("this is not a folder: " + path);
    } catch (IOException unreadable) {
      return new ToolResult.Failed(TextFile.reason(path, unreadable));
    }
  }

  private static ObjectNode result(
      WorkingDirectory workingDirectory, List<FileFinder.FoundFile> found) {
    var result = Json.object();
    var entries = result.putArray("entries");
    for (var each : found.subList(0, Math.min(found.size(), ENTRIES_MAX))) {
      var entry = entries.addObject().put("path", workingDirectory.displayName(each.path()));
      if (each.attributes().isDirectory()) {
        entry.put("type", "folder");
      } else if (each.attributes().isRegularFile()) {
        entry.put("type", "file").put("size", each.attributes().size());
      } else {
        entry.put("type", "other");
      }
    }
    if (found.size() > ENTRIES_MAX) {
      result.put("note", "There are more; only the first " + ENTRIES_MAX + " are listed.");
    }
    return result;
  }
}
