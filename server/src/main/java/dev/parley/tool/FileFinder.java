package dev.parley.tool;

import java.io.IOException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/// Finds files below a folder. It neither follows nor lists symbolic links, and skips the data
/// folder of the server.
final class FileFinder {

  static final int DEPTH_MAX = 10;

  private static final int VISITS_MAX = 20_000;

  /// A file or folder, with its path relative to the working directory.
  record FoundFile(Path path, BasicFileAttributes attributes) {

    String name() {
      return String.valueOf(path.getFileName());
    }
  }

  private final WorkingDirectory workingDirectory;
  private final List<FoundFile> found = new ArrayList<>();

  private FileFinder(WorkingDirectory workingDirectory) {
    this.workingDirectory = workingDirectory;
  }

  /// The files and folders below `top`, a path relative to the working directory, sorted, up to
  /// `depth` and a maximum number.
  static List<FoundFile> find(WorkingDirectory workingDirectory, Path top, int depth)
      throws IOException, InterruptedException {
    var fileFinder = new FileFinder(workingDirectory);
    try (var held = workingDirectory.open(top)) {
      fileFinder.visit(held, top, depth);
    }
    return fileFinder.found.stream().sorted(Comparator.comparing(FoundFile::path)).toList();
  }

  private void visit(OpenDirectory held, Path path, int depth)
      throws IOException, InterruptedException {
    for (var name : held.names(VISITS_MAX)) {
      if (Thread.interrupted()) {
        throw new InterruptedException();
      }
      if (found.size() >= VISITS_MAX) {
        return;
      }
      try {
        visitEntry(held, name, path.resolve(name), depth);
      } catch (IOException unreadable) {
        // Entries that cannot be read or no longer exist are skipped.
      }
    }
  }

  private void visitEntry(OpenDirectory held, String name, Path path, int depth)
      throws IOException, InterruptedException {
    var attributes = held.attributes(name);
    if (attributes.isSymbolicLink()) {
      return;
    }
    if (!attributes.isDirectory()) {
      workingDirectory.checkNotServerFile(attributes.fileKey());
      found.add(new FoundFile(path, attributes));
      return;
    }
    if (!workingDirectory.isServerFolder(attributes)) {
      found.add(new FoundFile(path, attributes));
      if (depth > 1) {
        try (var inner = held.open(name)) {
          if (!workingDirectory.isServerFolder(inner)) {
            visit(inner, path, depth - 1);
          }
        }
      }
    }
  }
}
