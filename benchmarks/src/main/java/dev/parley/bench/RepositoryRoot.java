package dev.parley.bench;

import java.nio.file.Path;
import java.util.Optional;

/// The folder of the repository. `./bench` sets it; a test runs without it.
final class RepositoryRoot {

  private RepositoryRoot() {}

  static Optional<Path> root() {
    return Optional.ofNullable(System.getProperty("parley.root")).map(Path::of);
  }

  /// A folder for files that are kept between runs.
  static Path target() {
    return root()
        .map(root -> root.resolve("benchmarks/target"))
        .orElseGet(() -> Path.of(System.getProperty("java.io.tmpdir"), "parley-bench"));
  }
}
