package dev.parley.tool;

import java.io.IOException;
import java.nio.file.FileVisitOption;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;

/// Finds files below a folder. Symbolic links are neither followed nor listed.
final class Walk {

  static final int DEPTH_MAX = 10;

  private static final int VISITS_MAX = 20_000;

  private Walk() {}

  /// What lies below `top`, sorted, at most so deep and so much.
  static List<Path> below(Path top, int depth) throws IOException, InterruptedException {
    var found = new ArrayList<Path>();
    Files.walkFileTree(top, EnumSet.noneOf(FileVisitOption.class), depth, new Visitor(top, found));
    if (Thread.interrupted()) {
      throw new InterruptedException();
    }
    return found.stream().sorted().toList();
  }

  private static final class Visitor extends SimpleFileVisitor<Path> {
    private final Path top;
    private final List<Path> found;

    Visitor(Path top, List<Path> found) {
      this.top = top;
      this.found = found;
    }

    @Override
    public FileVisitResult preVisitDirectory(Path folder, BasicFileAttributes attributes) {
      return folder.equals(top) ? FileVisitResult.CONTINUE : take(folder);
    }

    @Override
    public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
      return attributes.isSymbolicLink() ? FileVisitResult.CONTINUE : take(file);
    }

    @Override
    public FileVisitResult visitFileFailed(Path file, IOException failure) {
      return FileVisitResult.CONTINUE;
    }

    private FileVisitResult take(Path path) {
      found.add(path);
      return found.size() >= VISITS_MAX || Thread.currentThread().isInterrupted()
          ? FileVisitResult.TERMINATE
          : FileVisitResult.CONTINUE;
    }
  }
}
