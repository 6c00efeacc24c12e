package dev.parley.tool;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Which folders file tools may reach: those below the working directory, but never the server's own `data` folder.
///
/// The working directory lies in one of the `workspaces`, which nobody exchanges while the server runs. Folders below
/// them may be exchanged at any time, by the commands of agents too.
public record FileAccess(List<Path> workspaces, @Nullable Path data) {

  /// For tools that are used without a server: no folder is the server's own.
  public static final FileAccess WITHOUT_SERVER = new FileAccess(List.of(), null);

  public FileAccess {
    workspaces = List.copyOf(workspaces);
  }

  /// The outermost workspace that this folder, which has no symbolic links in its path, is in; itself if it is in none.
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

  /// The server's own folder without symbolic links, if there is one.
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
