package dev.parley.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/// A file that only this user can read, for as long as a program runs: words of a command are seen by all.
record PrivateFile(Path path) implements AutoCloseable {

  static PrivateFile of(String text) throws IOException {
    // Java makes it so that nobody else may read it.
    var file = new PrivateFile(Files.createTempFile("parley-", ".private"));
    try {
      Files.writeString(file.path(), text);
      return file;
    } catch (IOException full) {
      file.close();
      throw full;
    }
  }

  @Override
  public void close() throws IOException {
    Files.deleteIfExists(path);
  }
}
