package dev.parley.tool;

import java.util.Optional;

/// `write_file`: creates a text file, or replaces it completely.
public final class WriteFileTool extends BuiltInTool<WriteFileTool.Arguments> {

  private static final String DESCRIPTION =
      "Writes a text file in the working directory. It replaces the old content, and creates"
          + " missing folders. Returns {path, created, bytes, diff}. To change a part of a file"
          + " use edit_file.";

  /// The file and its new content.
  public record Arguments(String path, String content) {}

  private final FileAccess access;

  public WriteFileTool() {
    this(FileAccess.WITHOUT_SERVER);
  }

  /// With access to the folders of `access` only.
  public WriteFileTool(FileAccess access) {
    // Writing the same content again changes nothing.
    super("write_file", Effect.IDEMPOTENT, Arguments.class, DESCRIPTION);
    this.access = access;
  }

  @Override
  public Optional<String> preview(Arguments arguments, ToolContext context) {
    return Optional.of(
        FileChange.preview(
            access, arguments.path(), context, _ -> FileChange.utf8(arguments.content())));
  }

  @Override
  public String summary(Arguments arguments, ToolContext context) {
    return CallSummary.write(
        arguments.path(), FileChange.exists(access, arguments.path(), context));
  }

  @Override
  public ToolResult call(Arguments arguments, ToolContext context) {
    return FileChange.apply(
        access, arguments.path(), context, _ -> FileChange.utf8(arguments.content()));
  }
}
