package dev.parley.tool;

import dev.parley.protocol.Json;
import dev.parley.tool.Folder.OutOfReach;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Optional;
import tools.jackson.databind.node.ObjectNode;

/// Changes one file of the working directory, and shows the difference.
final class Change {

  static final int BYTES_MAX = 4 * 1024 * 1024;

  /// Computes the new content of a file from the old content. Throws [OutOfReach] with the reason
  /// if that is not possible.
  interface Edit {
    byte[] of(Optional<byte[]> before) throws OutOfReach;
  }

  private Change() {}

  /// Makes the change. Returns the path of the file, its new size, and the diff.
  static ToolResult make(FileAccess access, String path, ToolContext context, Edit edit) {
    var folder = new Folder(access, context);
    try {
      var place = folder.place(path);
      try (var file = HeldFile.open(folder, place, true)) {
        var before = file.content();
        var after = limited(edit.of(before));
        file.replace(after, context.key());
        return new ToolResult.Done(result(folder.name(place), before, after));
      }
    } catch (IOException impossible) {
      return new ToolResult.Failed(HeldFile.reason(path, impossible));
    }
  }

  /// The diff that [#make] would produce, or the reason why it would fail.
  static String preview(FileAccess access, String path, ToolContext context, Edit edit) {
    try {
      var folder = new Folder(access, context);
      var place = folder.place(path);
      var before = content(folder, place);
      var name = folder.name(place);
      var diff = diff(name, before, limited(edit.of(before)));
      return diff.isEmpty() ? name + " does not change" : diff;
    } catch (IOException impossible) {
      return "This will not work: " + HeldFile.reason(path, impossible);
    }
  }

  /// True if the file that [#make] would write exists.
  static boolean exists(FileAccess access, String path, ToolContext context) {
    try {
      var folder = new Folder(access, context);
      return content(folder, folder.place(path)).isPresent();
    } catch (IOException unreadable) {
      // The path exists but cannot be read, or cannot exist: the preview shows the reason.
      return true;
    }
  }

  private static Optional<byte[]> content(Folder folder, Path place) throws IOException {
    try (var file = HeldFile.open(folder, place, false)) {
      return file.content();
    } catch (NoSuchFileException folderMissing) {
      return Optional.empty();
    }
  }

  private static byte[] limited(byte[] content) throws OutOfReach {
    if (content.length > BYTES_MAX) {
      throw new OutOfReach("a file must not be larger than " + BYTES_MAX / 1024 / 1024 + " MiB");
    }
    return content;
  }

  private static ObjectNode result(String name, Optional<byte[]> before, byte[] after) {
    return Json.object()
        .put("path", name)
        .put("created", before.isEmpty())
        .put("bytes", after.length)
        .put("diff", diff(name, before, after));
  }

  private static String diff(String name, Optional<byte[]> before, byte[] after) {
    var old = before.orElseGet(() -> new byte[0]);
    if (TextFile.binary(old)) {
      return "The file was binary, " + old.length + " bytes; it is replaced by text.\n";
    }
    return Diff.shown(
        name, new String(old, TextFile.charset(old)), new String(after, TextFile.charset(after)));
  }

  static byte[] utf8(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }
}
