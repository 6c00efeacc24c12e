package dev.parley.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;

/// A temporary folder that is deleted when it is closed.
record TemporaryFolder(Path path) implements AutoCloseable {

  static TemporaryFolder make() throws IOException {
    return new TemporaryFolder(Files.createTempDirectory("parley-bench"));
  }

  /// The total size of its files.
  long bytes() throws IOException {
    try (var files = Files.walk(path)) {
      return files.filter(Files::isRegularFile).mapToLong(file -> file.toFile().length()).sum();
    }
  }

  @Override
  public void close() throws IOException {
    try (var files = Files.walk(path)) {
      for (var file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(file);
      }
    }
  }
}
