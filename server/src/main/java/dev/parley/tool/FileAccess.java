package dev.parley.tool;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The folders that file tools may access: those below the working directory, but never the `data`
/// folder of the server.
///
/// The working directory is in one of the `workspaces`, which are not replaced while the server
/// runs. Folders below them may be replaced at any time, even by commands of agents.
public record FileAccess(List<Path> workspaces, @Nullable Path data) {

  /// For tools without a server: no folder belongs to a server.
  public static final FileAccess WITHOUT_SERVER = new FileAccess(List.of(), null);

  public FileAccess {
    workspaces = List.copyOf(workspaces);
  }

  /// The outermost workspace that contains this folder, whose path has no symbolic links; the
  /// folder itself if there is none.
  Path base(Path folder) {
    var base = folder;
    for (var workspace : workspaces) {
      var real = real(workspace);
      if (real != null && base.startsWith(real)) {
        base = real;
      }
    }
    return base;
  }

  /// The data folder of the server without symbolic links, if there is one.
  @Nullable Path ownFolder() {
    return data == null ? null : real(data);
  }

  private static @Nullable Path real(Path path) {
    try {
      return path.toRealPath();
    } catch (IOException missing) {
      return null;
    }
  }
}
