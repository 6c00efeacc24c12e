package dev.parley.tool;

import dev.parley.tool.WorkingDirectory.FileRejectedException;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// `edit_file`: replaces a part of a text file.
public final class EditFileTool extends BuiltInTool<EditFileTool.Arguments> {

  private static final String DESCRIPTION =
      "Replaces oldText by newText in a text file of the working directory. oldText must be"
          + " there exactly, with its spaces and line ends, and once; with replaceAll all"
          + " occurrences are replaced. Returns {path, created, bytes, diff}.";

  /// The file, the text to replace, and its replacement.
  public record Arguments(
      String path, String oldText, String newText, @Nullable Boolean replaceAll) {}

  private final FileAccess access;

  public EditFileTool() {
    this(FileAccess.WITHOUT_SERVER);
  }

  /// With access to the folders of `access` only.
  public EditFileTool(FileAccess access) {
    // The file does not show whether an edit was made, if the new text contains the old one or was
    // there before. So an edit in doubt is not repeated: the model is informed, and can read the
    // file.
    super("edit_file", Effect.AT_MOST_ONCE, Arguments.class, DESCRIPTION);
    this.access = access;
  }

  @Override
  public Optional<String> preview(Arguments arguments, ToolContext context) {
    return Optional.of(
        FileChange.preview(access, arguments.path(), context, before -> edited(arguments, before)));
  }

  @Override
  public String summary(Arguments arguments, ToolContext context) {
    return CallSummary.edit(arguments.path());
  }

  @Override
  public ToolResult call(Arguments arguments, ToolContext context) {
    try {
      // Checked first, so that no folder is created for a missing file.
      new WorkingDirectory(access, context).find(arguments.path());
    } catch (FileRejectedException missing) {
      return new ToolResult.Failed(String.valueOf(missing.getMessage()));
    }
    return FileChange.apply(access, arguments.path(), context, before -> edited(arguments, before));
  }

  private static byte[] edited(Arguments arguments, Optional<byte[]> before)
      throws FileRejectedException {
    var bytes =
        before.orElseThrow(
            () -> new FileRejectedException("there is no such file: " + arguments.path()));
    if (TextFile.binary(bytes)) {
      throw new FileRejectedException("this is not a text file: " + arguments.path());
    }
    var charset = TextFile.charset(bytes);
    var text = new String(bytes, charset);
    var edited =
        new TextReplacement(arguments.oldText(), arguments.newText())
            .applyTo(text, Boolean.TRUE.equals(arguments.replaceAll()));
    if (!charset.newEncoder().canEncode(edited)) {
      throw new FileRejectedException(
          charset.equals(StandardCharsets.UTF_8)
              ? "newText is invalid: it contains half of a surrogate pair"
              : "the file is in " + charset + ", which lacks a character of newText");
    }
    return edited.getBytes(charset);
  }
}
