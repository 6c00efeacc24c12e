package dev.parley.tool.process;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;

/// Identifies a folder on this machine, also in contrast to a copy of it.
///
/// @param file the device and the inode of the folder, or `-` if the file system has none
/// @param path its real path
public record FolderKey(String file, String path) {

  private static final String UNKNOWN = "-";

  /// The key of a folder that exists.
  public static FolderKey of(Path folder) throws IOException {
    var real = folder.toRealPath();
    var key = Files.readAttributes(real, BasicFileAttributes.class).fileKey();
    return new FolderKey(
        key == null ? UNKNOWN : key.toString().replaceAll("[\\s()]", ""), real.toString());
  }

  /// True if both identify the same folder, which may have been moved in between.
  public boolean matches(FolderKey other) {
    if (file.equals(UNKNOWN) || other.file.equals(UNKNOWN)) {
      return path.equals(other.path);
    }
    return file.equals(other.file);
  }
}
