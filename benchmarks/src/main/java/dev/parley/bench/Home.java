package dev.parley.bench;

import java.nio.file.Path;
import java.util.Optional;

/// Where the repository is, which `./bench` says; a test runs without.
final class Home {

  private Home() {}

  static Optional<Path> root() {
    return Optional.ofNullable(System.getProperty("parley.root")).map(Path::of);
  }

  /// A folder for what is made once and used again.
  static Path target() {
    return root()
        .map(root -> root.resolve("benchmarks/target"))
        .orElseGet(() -> Path.of(System.getProperty("java.io.tmpdir"), "parley-bench"));
  }
}
