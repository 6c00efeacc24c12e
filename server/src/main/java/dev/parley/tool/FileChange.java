package dev.parley.tool;

import dev.parley.protocol.Json;
import dev.parley.tool.WorkingDirectory.FileRejectedException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Optional;
import tools.jackson.databind.node.ObjectNode;

/// Changes one file of the working directory, and shows the difference.
final class FileChange {

  static final int BYTES_MAX = 4 * 1024 * 1024;

  /// Computes the new content of a file from the old content. Throws [FileRejectedException] with the reason
  /// if that is not possible.
  interface FileEdit {
    byte[] of(Optional<byte[]> before) throws FileRejectedException;
  }

  private FileChange() {}

  /// Makes the change. Returns the path of the file, its new size, and the diff.
  static ToolResult apply(FileAccess access, String path, ToolContext context, FileEdit fileEdit) {
    var workingDirectory = new WorkingDirectory(access, context);
    try {
      var place = workingDirectory.resolveTarget(path);
      try (var file = WritableFile.open(workingDirectory, place, true)) {
        var before = file.content();
        var after = limited(fileEdit.of(before));
        file.replace(after, context.key());
        return new ToolResult.Done(result(workingDirectory.displayName(place), before, after));
      }
    } catch (IOException impossible) {
      return new ToolResult.Failed(WritableFile.reason(path, impossible));
    }
  }

  /// The diff that [#apply] would produce, or the reason why it would fail.
  static String preview(FileAccess access, String path, ToolContext context, FileEdit fileEdit) {
    try {
      var workingDirectory = new WorkingDirectory(access, context);
      var place = workingDirectory.resolveTarget(path);
      var before = content(workingDirectory, place);
      var name = workingDirectory.displayName(place);
      var diff = diff(name, before, limited(fileEdit.of(before)));
      return diff.isEmpty() ? name + " does not change" : diff;
    } catch (IOException impossible) {
      return "This will not work: " + WritableFile.reason(path, impossible);
    }
  }

  /// True if the file that [#apply] would write exists.
  static boolean exists(FileAccess access, String path, ToolContext context) {
    try {
      var workingDirectory = new WorkingDirectory(access, context);
      return content(workingDirectory, workingDirectory.resolveTarget(path)).isPresent();
    } catch (IOException unreadable) {
      // The path exists but cannot be read, or cannot exist: the preview shows the reason.
      return true;
    }
  }

  private static Optional<byte[]> content(WorkingDirectory workingDirectory, Path place)
      throws IOException {
    try (var file = WritableFile.open(workingDirectory, place, false)) {
      return file.content();
    } catch (NoSuchFileException folderMissing) {
      return Optional.empty();
    }
  }

  private static byte[] limited(byte[] content) throws FileRejectedException {
    if (content.length > BYTES_MAX) {
      throw new FileRejectedException(
          "a file must not be larger than " + BYTES_MAX / 1024 / 1024 + " MiB");
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
