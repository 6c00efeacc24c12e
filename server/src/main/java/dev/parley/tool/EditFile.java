package dev.parley.tool;

import dev.parley.tool.Folder.OutOfReach;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// `edit_file`: replaces a piece of a text file.
public final class EditFile implements TypedTool<EditFile.Arguments> {

  /// Which file, which piece of it, and what takes its place.
  public record Arguments(
      String path, String oldText, String newText, @Nullable Boolean replaceAll) {}

  private final FileAccess access;

  public EditFile() {
    this(FileAccess.WITHOUT_SERVER);
  }

  /// One that reaches no more than `access` allows.
  public EditFile(FileAccess access) {
    this.access = access;
  }

  @Override
  public String name() {
    return "edit_file";
  }

  @Override
  public String description() {
    return "Replaces oldText by newText in a text file of the working directory. oldText must be"
        + " there exactly, with its spaces and line ends, and once; with replaceAll all"
        + " places are replaced. Answers {path, created, bytes, diff}.";
  }

  @Override
  public Class<Arguments> arguments() {
    return Arguments.class;
  }

  /// Whether an edit was made cannot be told from the file if the new text holds the old one, or was
  /// there before. So one in doubt is not made again: the model is told, and can look.
  @Override
  public Effect effect() {
    return Effect.AT_MOST_ONCE;
  }

  @Override
  public boolean concurrent() {
    return false;
  }

  @Override
  public Optional<String> preview(Arguments arguments, ToolContext context) {
    return Optional.of(
        Change.preview(access, arguments.path(), context, before -> edited(arguments, before)));
  }

  @Override
  public String summary(Arguments arguments, ToolContext context) {
    return CallSummary.edit(arguments.path());
  }

  @Override
  public ToolResult call(Arguments arguments, ToolContext context) {
    try {
      // Before a folder is made for nothing.
      new Folder(access, context).find(arguments.path());
    } catch (OutOfReach missing) {
      return new ToolResult.Failed(String.valueOf(missing.getMessage()));
    }
    return Change.make(access, arguments.path(), context, before -> edited(arguments, before));
  }

  private static byte[] edited(Arguments arguments, Optional<byte[]> before) throws OutOfReach {
    var bytes =
        before.orElseThrow(() -> new OutOfReach("there is no such file: " + arguments.path()));
    if (TextFile.binary(bytes)) {
      throw new OutOfReach("this is not a text file: " + arguments.path());
    }
    var charset = TextFile.charset(bytes);
    var text = new String(bytes, charset);
    var edited =
        new Replacement(arguments.oldText(), arguments.newText())
            .in(text, Boolean.TRUE.equals(arguments.replaceAll()));
    if (!charset.newEncoder().canEncode(edited)) {
      throw new OutOfReach(
          charset.equals(StandardCharsets.UTF_8)
              ? "newText is not whole: half of a character is missing"
              : "the file is in " + charset + ", which lacks a character of newText");
    }
    return edited.getBytes(charset);
  }
}
