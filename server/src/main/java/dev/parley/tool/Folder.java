package dev.parley.tool;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayDeque;

/// The folder that tools may work in. Nothing that leads out of it is found: not `..`, not a symbolic
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

  /// Where a file that `path` names is or would be, from here on and without symbolic links.
  Path place(String path) throws OutOfReach {
    Path existing;
    try {
      existing = root.resolve(path).normalize();
    } catch (InvalidPathException unreadable) {
      throw new OutOfReach("this is not a path: " + path);
    }
    var missing = new ArrayDeque<Path>();
    while (existing.getParent() != null && !Files.exists(existing, LinkOption.NOFOLLOW_LINKS)) {
      missing.push(existing.getFileName());
      existing = existing.getParent();
    }
    Path place;
    try {
      place = existing.toRealPath();
    } catch (IOException leadsNowhere) {
      throw outside(path);
    }
    for (var name : missing) {
      place = place.resolve(name);
    }
    if (!contains(place)) {
      throw outside(path);
    }
    if (place.equals(root)) {
      throw new OutOfReach("this is not a file: " + path);
    }
    return root.relativize(place);
  }

  private static OutOfReach outside(String path) {
    return new OutOfReach("only files in the working directory can be written, not " + path);
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
