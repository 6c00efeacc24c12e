package dev.parley.task;

import dev.parley.protocol.Rejection;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The folders that tasks may work in, which never includes the server's own `data` folder.
public record Workspaces(List<Path> roots, @Nullable Path data) {

  public Workspaces {
    roots = roots.stream().map(Path::toAbsolutePath).map(Path::normalize).toList();
    if (roots.isEmpty()) {
      throw new IllegalArgumentException("at least one workspace is needed");
    }
  }

  /// Workspaces of a server without a folder of its own.
  public Workspaces(List<Path> roots) {
    this(roots, null);
  }

  /// The folder that `directory` names, without symbolic links; the first workspace if none is named.
  ///
  /// @throws Rejection.Invalid unless it exists, is a folder, and lies inside a workspace and outside the server's own
  ///     folder
  public Path resolve(@Nullable String directory) {
    var real = real(directory == null ? roots.getFirst() : path(directory));
    if (!Files.isDirectory(real)) {
      throw invalid("is not a folder");
    }
    if (roots.stream().noneMatch(root -> contains(root, real))) {
      throw invalid("is outside the workspaces");
    }
    if (data != null && contains(data, real)) {
      throw invalid("is in the data folder of the server");
    }
    return real;
  }

  private Path path(String directory) {
    try {
      return roots.getFirst().resolve(directory);
    } catch (InvalidPathException unreadable) {
      throw invalid("is not a path");
    }
  }

  private static Path real(Path path) {
    try {
      return path.toRealPath();
    } catch (IOException missing) {
      throw invalid("does not exist");
    }
  }

  private static boolean contains(Path root, Path real) {
    try {
      return real.startsWith(root.toRealPath());
    } catch (IOException missing) {
      return false;
    }
  }

  private static Rejection invalid(String what) {
    return new Rejection.Invalid("invalid-working-directory", "workingDirectory " + what);
  }
}
