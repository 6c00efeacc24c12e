package dev.parley.tool;

import java.io.IOException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/// Finds files below a folder. It neither follows nor lists symbolic links, and skips the data
/// folder of the server.
final class Walk {

  static final int DEPTH_MAX = 10;

  private static final int VISITS_MAX = 20_000;

  /// A file or folder, with its path relative to the working directory.
  record Found(Path path, BasicFileAttributes attributes) {

    String name() {
      return String.valueOf(path.getFileName());
    }
  }

  private final Folder folder;
  private final List<Found> found = new ArrayList<>();

  private Walk(Folder folder) {
    this.folder = folder;
  }

  /// The files and folders below `top`, a path relative to the working directory, sorted, up to
  /// `depth` and a maximum number.
  static List<Found> below(Folder folder, Path top, int depth)
      throws IOException, InterruptedException {
    var walk = new Walk(folder);
    try (var held = folder.hold(top)) {
      walk.visit(held, top, depth);
    }
    return walk.found.stream().sorted(Comparator.comparing(Found::path)).toList();
  }

  private void visit(HeldFolder held, Path path, int depth)
      throws IOException, InterruptedException {
    for (var name : held.names(VISITS_MAX)) {
      if (Thread.interrupted()) {
        throw new InterruptedException();
      }
      if (found.size() >= VISITS_MAX) {
        return;
      }
      try {
        take(held, name, path.resolve(name), depth);
      } catch (IOException unreadable) {
        // Entries that cannot be read or no longer exist are skipped.
      }
    }
  }

  private void take(HeldFolder held, String name, Path path, int depth)
      throws IOException, InterruptedException {
    var attributes = held.attributes(name);
    if (attributes.isSymbolicLink()) {
      return;
    }
    if (!attributes.isDirectory()) {
      folder.checkNotOwn(attributes.fileKey());
      found.add(new Found(path, attributes));
      return;
    }
    if (!folder.isOwn(attributes)) {
      found.add(new Found(path, attributes));
      if (depth > 1) {
        try (var inner = held.open(name)) {
          if (!folder.isOwn(inner)) {
            visit(inner, path, depth - 1);
          }
        }
      }
    }
  }
}
