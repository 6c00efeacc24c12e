package dev.parley.tool;

import dev.parley.protocol.Json;
import java.io.IOException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/// `read_file`: reads a page of a text file.
public final class ReadFileTool extends BuiltInTool<ReadFileTool.Arguments> {

  private static final String DESCRIPTION =
      "Reads a text file of the working directory. Returns {path, content, size}, and"
          + " nextOffset if there is more: call it again with that offset. All counts are in"
          + " characters, not bytes.";

  private static final int PAGE_MAX = 20_000;

  /// The file, the first character, and the number of characters.
  public record Arguments(String path, @Nullable Integer offset, @Nullable Integer limit) {}

  private final FileAccess access;

  public ReadFileTool() {
    this(FileAccess.WITHOUT_SERVER);
  }

  /// With access to the folders of `access` only.
  public ReadFileTool(FileAccess access) {
    super("read_file", Effect.PURE, Arguments.class, DESCRIPTION);
    this.access = access;
  }

  @Override
  public ToolResult call(Arguments arguments, ToolContext context) {
    var workingDirectory = new WorkingDirectory(access, context);
    try {
      return page(workingDirectory, workingDirectory.find(arguments.path()), arguments);
    } catch (IOException unreadable) {
      return new ToolResult.Failed(TextFile.reason(arguments.path(), unreadable));
    }
  }

  private static ToolResult page(WorkingDirectory workingDirectory, Path file, Arguments arguments)
      throws IOException {
    var text = TextFile.read(workingDirectory, file);
    var offset = arguments.offset() == null ? 0 : arguments.offset();
    var limit = arguments.limit() == null ? PAGE_MAX : arguments.limit();
    if (offset < 0 || offset > text.length() || limit < 1) {
      return new ToolResult.Failed(
          "offset must be 0 to " + text.length() + ", and limit 1 to " + PAGE_MAX);
    }
    var end = (int) Math.min(text.length(), (long) offset + Math.min(limit, PAGE_MAX));
    if (end < text.length()
        && end > offset + 1
        && Character.isHighSurrogate(text.charAt(end - 1))) {
      end--;
    }
    var result =
        Json.object()
            .put("path", workingDirectory.displayName(file))
            .put("content", text.substring(offset, end))
            .put("size", text.length());
    if (end < text.length()) {
      result.put("nextOffset", end);
    }
    return new ToolResult.Done(result);
  }
}
