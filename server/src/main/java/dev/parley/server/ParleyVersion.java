package dev.parley.server;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;

/// The version of this build. The build writes it into a file, so that it is the same from a jar and
/// from a folder of classes.
public final class ParleyVersion {

  private static final String FILE = "version.txt";

  private ParleyVersion() {}

  /// The version, such as `0.1.0`.
  public static String text() {
    try (var file = ParleyVersion.class.getResourceAsStream(FILE)) {
      if (file == null) {
        throw new IllegalStateException("the build lacks " + FILE);
      }
      return new String(file.readAllBytes(), StandardCharsets.UTF_8).strip();
    } catch (IOException unreadable) {
      throw new UncheckedIOException(unreadable);
    }
  }
}
