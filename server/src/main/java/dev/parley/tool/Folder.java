package dev.parley.tool;

import java.io.IOException;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;

/// The folder that tools may look at. Nothing that leads out of it is found: not `..`, not a symbolic
/// link, not an absolute path.
final class Folder {

  private final Path root;

  Folder(Path root) {
    this.root = root;
  }

  /// The file or folder that `path` names, without symbolic links.
  Path find(String path) throws OutOfReach {
    Path real;
    try {
      real = root.resolve(path).toRealPath();
    } catch (InvalidPathException unreadable) {
      throw new OutOfReach("this is not a path: " + path);
    } catch (IOException missing) {
      throw new OutOfReach("there is no such file: " + path);
    }
    if (!contains(real)) {
      // The same answer as for what is missing, so that nobody learns what exists elsewhere.
      throw new OutOfReach("there is no such file: " + path);
    }
    return real;
  }

  /// True if the file or folder, which has no symbolic links in it, lies in here.
  boolean contains(Path real) {
    return real.startsWith(root);
  }

  /// How the model names the file.
  String name(Path path) {
    return root.relativize(path).toString().replace('\\', '/');
  }

  /// Says that a path cannot be looked at, in words for the model.
  static final class OutOfReach extends IOException {
    private static final long serialVersionUID = 1L;

    OutOfReach(String message) {
      super(message);
    }
  }
}
