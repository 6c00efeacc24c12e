package dev.parley.external.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/// A temporary file that only this user can read, for the time that a program runs. It replaces
/// arguments of a command, which every user can read.
record PrivateTempFile(Path path) implements AutoCloseable {

  static PrivateTempFile of(String text) throws IOException {
    // Java creates temporary files readable by their owner only.
    var file = new PrivateTempFile(Files.createTempFile("parley-", ".private"));
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
