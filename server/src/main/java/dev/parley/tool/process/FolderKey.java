package dev.parley.tool.process;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;

/// Tells a folder from every other folder on this machine, also from a copy of itself.
///
/// @param file the device and the number of the folder, or `-` where the file system has none
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

  /// True if both are keys of one folder, which may have been moved in between.
  public boolean matches(FolderKey other) {
    if (file.equals(UNKNOWN) || other.file.equals(UNKNOWN)) {
      return path.equals(other.path);
    }
    return file.equals(other.file);
  }
}
