package dev.parley.app;

import dev.parley.external.cli.CliProgram;
import dev.parley.external.cli.CliSettings;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/// Finds the program of a command-line agent and reads its version.
final class ProgramCheck {

  private static final Duration PATIENCE = Duration.ofSeconds(20);
  private static final int SHOWN_MAX = 80;

  private final CliSettings settings;

  ProgramCheck(CliSettings settings) {
    this.settings = settings;
  }

  /// The file of the program, if it exists.
  Optional<Path> find() {
    return settings.file();
  }

  /// The version that the program reports. Unknown programs are not started: they might do
  /// something else than print a version.
  Optional<String> version() {
    if (settings.program() == CliProgram.JSONL) {
      return Optional.empty();
    }
    var words = new ArrayList<>(settings.command());
    words.add("--version");
    try {
      return firstLine(words);
    } catch (IOException unstartable) {
      return Optional.empty();
    } catch (InterruptedException told) {
      Thread.currentThread().interrupt();
      return Optional.empty();
    }
  }

  private Optional<String> firstLine(List<String> words) throws IOException, InterruptedException {
    var said = Files.createTempFile("parley-doctor", ".txt");
    try {
      var builder = new ProcessBuilder(words);
      builder.environment().clear();
      builder.environment().putAll(settings.environment());
      builder.redirectInput(new File("/dev/null")).redirectOutput(said.toFile());
      builder.redirectError(ProcessBuilder.Redirect.DISCARD);
      var process = builder.start();
      if (!process.waitFor(PATIENCE.toMillis(), TimeUnit.MILLISECONDS)) {
        process.descendants().forEach(ProcessHandle::destroyForcibly);
        process.destroyForcibly();
        return Optional.empty();
      }
      return new String(Files.readAllBytes(said), StandardCharsets.UTF_8)
          .lines()
          .map(String::strip)
          .filter(line -> process.exitValue() == 0 && !line.isEmpty())
          .map(line -> line.length() <= SHOWN_MAX ? line : line.substring(0, SHOWN_MAX))
          .findFirst();
    } finally {
      Files.deleteIfExists(said);
    }
  }
}
