package dev.parley.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.logging.SimpleFormatter;

/// Looks for secrets where none may be: in what was logged, what was answered, and what is on disk.
final class SecretLeaks implements AutoCloseable {

  private final List<String> heard = new CopyOnWriteArrayList<>();
  private final Logger logger = Logger.getLogger("");
  private final Logger ours = Logger.getLogger("dev.parley");
  private final Level before = ours.getLevel();
  private final Handler handler =
      new Handler() {
        @Override
        public void publish(LogRecord entry) {
          var text = new StringWriter();
          text.append(new SimpleFormatter().formatMessage(entry));
          if (entry.getThrown() != null) {
            entry.getThrown().printStackTrace(new PrintWriter(text));
          }
          heard.add(text.toString());
        }

        @Override
        public void flush() {}

        @Override
        public void close() {}
      };

  SecretLeaks() {
    handler.setLevel(Level.ALL);
    ours.setLevel(Level.ALL);
    logger.addHandler(handler);
  }

  /// Something that somebody was told.
  void hear(String text) {
    heard.add(text);
  }

  /// Fails if a secret was told, or is in a file of the folder.
  void check(Path folder, String... secrets) throws IOException {
    for (var secret : secrets) {
      assertThat(heard).noneMatch(text -> text.contains(secret));
      try (var files = Files.walk(folder)) {
        for (var file : files.filter(Files::isRegularFile).toList()) {
          var bytes = new String(Files.readAllBytes(file), StandardCharsets.ISO_8859_1);
          assertThat(bytes).as("in %s", file).doesNotContain(secret);
        }
      }
    }
  }

  @Override
  public void close() {
    logger.removeHandler(handler);
    ours.setLevel(before);
  }
}
