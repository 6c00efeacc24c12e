package dev.parley.projection;

import java.nio.file.Path;

/// Where the views are stored. They contain the text of conversations, so the views of an encrypted
/// log are only in memory, and are computed again at each start.
public record ViewStorage(Path file, boolean inMemory) {

  /// Stores the views in `file`. The file is rebuilt if it is missing, corrupt or of another
  /// version.
  public static ViewStorage in(Path file) {
    return new ViewStorage(file, false);
  }

  /// Deletes the file, unless the views are stored in it.
  public void deleteUnused() {
    if (inMemory) {
      ViewSchema.delete(file);
    }
  }

  /// Stores the views in memory. Deletes the views in `file` if there are any.
  public static ViewStorage inMemoryInsteadOf(Path file) {
    return new ViewStorage(file, true);
  }
}
