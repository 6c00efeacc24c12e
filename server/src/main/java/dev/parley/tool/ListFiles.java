package dev.parley.tool;

import dev.parley.protocol.Json;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// `list_files`: what is in a folder.
public final class ListFiles implements TypedTool<ListFiles.Arguments> {

  private static final int ENTRIES_MAX = 500;

  /// Which folder, which names, and whether folders inside count too.
  public record Arguments(
      @Nullable String path, @Nullable String pattern, @Nullable Boolean recursive) {}

  @Override
  public String name() {
    return "list_files";
  }

  @Override
  public String description() {
    return "Lists the files and folders of the working directory, or of the folder at path. pattern"
        + " picks names: * stands for any characters, ? for one, upper and lower case are the same."
        + " recursive looks into folders too. Answers {entries: [{path, type, size}]}.";
  }

  @Override
  public Class<Arguments> arguments() {
    return Arguments.class;
  }

  @Override
  public Effect effect() {
    return Effect.PURE;
  }

  @Override
  public boolean concurrent() {
    return true;
  }

  @Override
  public ToolResult call(Arguments arguments, ToolContext context) throws InterruptedException {
    var folder = new Folder(context.workingDirectory());
    var path = arguments.path() == null ? "." : arguments.path();
    try {
      var top = folder.find(path);
      if (!Files.isDirectory(top)) {
        return new ToolResult.Failed("this is not a folder: " + path);
      }
      var depth = Boolean.TRUE.equals(arguments.recursive()) ? Walk.DEPTH_MAX : 1;
      var pattern = Glob.ofNames(arguments.pattern() == null ? "*" : arguments.pattern());
      var found =
          Walk.below(top, depth).stream()
              .filter(entry -> pattern.matches(String.valueOf(entry.getFileName())))
              .limit(ENTRIES_MAX + 1L)
              .toList();
      return new ToolResult.Done(result(folder, found));
    } catch (IOException unreadable) {
      return new ToolResult.Failed(TextFile.reason(path, unreadable));
    }
  }

  private static ObjectNode result(Folder folder, List<Path> found) throws IOException {
    var result = Json.object();
    var entries = result.putArray("entries");
    for (var path : found.subList(0, Math.min(found.size(), ENTRIES_MAX))) {
      var entry = entries.addObject().put("path", folder.name(path));
      if (Files.isDirectory(path)) {
        entry.put("type", "folder");
      } else if (Files.isRegularFile(path)) {
        entry.put("type", "file").put("size", Files.size(path));
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
