package dev.parley.task;

import dev.parley.protocol.Rejection;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// The folders that tasks may work in, which never include the server's own `data` folder.
///
/// `listed` is true if the configuration lists the folders: then no other folder is ever allowed.
/// Otherwise the only root is the folder in which the server was started, and a context keeps a
/// folder that was allowed in an earlier start.
public record Workspaces(List<Path> roots, @Nullable Path data, boolean listed) {

  public Workspaces {
    roots = roots.stream().map(Path::toAbsolutePath).map(Path::normalize).toList();
    if (roots.isEmpty()) {
      throw new IllegalArgumentException("at least one workspace is needed");
    }
  }

  /// Listed workspaces of a server without a data folder.
  public Workspaces(List<Path> roots) {
    this(roots, null, true);
  }

  /// The folder of messages that name none, in contexts without an earlier folder.
  Path first() {
    return roots.getFirst();
  }

  /// The folder that `directory` names, without symbolic links; the first workspace if none is
  /// named.
  ///
  /// `kept` are the folders that tasks of the same context have worked in before. Parley checked
  /// each of them when the first task was created there. Unless the workspaces are listed, the
  /// folder may be inside one of these too. A kept folder that has become a symbolic link since
  /// then is another folder.
  ///
  /// @throws Rejection.Invalid unless it exists, is a folder, and lies inside a workspace or a kept
  ///     folder and outside the data folder
  Path resolve(@Nullable String directory, Supplier<List<String>> kept) {
    var named = named(directory);
    var real = real(named);
    if (!inRoots(real) && (listed || kept.get().stream().noneMatch(real::startsWith))) {
      throw invalid(
          "is outside the workspaces: "
              + named
              + ". Send another workingDirectory, or add the folder to workspaces in the"
              + " configuration.");
    }
    return real;
  }

  /// True if the configuration allows this folder, in which a task of the same context has worked
  /// before. The folder may be missing.
  boolean allowsKept(String folder) {
    return !listed || inRoots(Path.of(folder));
  }

  private Path named(@Nullable String directory) {
    try {
      return directory == null ? first() : first().resolve(directory);
    } catch (InvalidPathException unreadable) {
      throw invalid("is not a path");
    }
  }

  private boolean inRoots(Path real) {
    return roots.stream().anyMatch(root -> contains(root, real));
  }

  private Path real(Path named) {
    Path real;
    try {
      real = named.toRealPath();
    } catch (IOException missing) {
      throw invalid(
          "does not exist: " + named + ". Create the folder, or send another workingDirectory.");
    }
    if (!Files.isDirectory(real)) {
      throw invalid("is not a folder: " + named);
    }
    if (data != null && contains(data, real)) {
      throw invalid("is in the data folder of the server: " + named);
    }
    return real;
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
