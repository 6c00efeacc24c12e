package dev.parley.bench;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/// A process of a benchmark; the benchmark waits for lines of its standard output.
///
/// Standard error goes to a file, which is shown if the process ends too early.
final class BenchmarkProcess implements AutoCloseable {

  /// The JVM options of `./parley`: a measured server runs with the same options as a real one.
  private static final List<String> SERVER_OPTIONS =
      List.of(
          "--enable-native-access=ALL-UNNAMED",
          "-XX:+UseCompactObjectHeaders",
          "-XX:+ExitOnOutOfMemoryError",
          "-Xss512k",
          "-XX:MaxRAMPercentage=25",
          "-Xms48m",
          "-Dorg.eclipse.jetty.util.referencesPerCacheLine=16");

  private static final String PROGRAM_OPTIONS = "PARLEY_JAVA_OPTS";
  private static final String ATTACHABLE = "-XX:-DisableAttachMechanism";
  private static final int PATIENCE_SECONDS = 15;

  private final Process process;
  private final BufferedReader out;
  private final Path errors;

  private BenchmarkProcess(Process process, Path errors) {
    this.process = process;
    this.errors = errors;
    this.out =
        new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
  }

  static BenchmarkProcess start(List<String> command, Path folder) throws IOException {
    return start(command, folder, Map.of());
  }

  private static BenchmarkProcess start(
      List<String> command, Path folder, Map<String, String> environment) throws IOException {
    var errors = Files.createTempFile("parley-bench", ".err");
    var builder = new ProcessBuilder(command).directory(folder.toAbsolutePath().toFile());
    builder.environment().putAll(environment);
    // The benchmarks never use a real model.
    builder.environment().keySet().removeIf(name -> name.matches("(?:ANTHROPIC|OPENAI)_.*"));
    return new BenchmarkProcess(builder.redirectError(errors.toFile()).start(), errors);
  }

  /// Starts `./parley`, or its main class if there is no repository. `jcmd` can attach to it.
  static BenchmarkProcess program(List<String> arguments, Path folder) throws IOException {
    var program = RepositoryRoot.root().map(root -> root.resolve("parley"));
    if (program.isEmpty()) {
      return server(dev.parley.app.Main.class, arguments.toArray(String[]::new));
    }
    var command = new ArrayList<String>();
    command.add(program.get().toString());
    command.addAll(arguments);
    var options = System.getenv().getOrDefault(PROGRAM_OPTIONS, "") + " " + ATTACHABLE;
    return start(command, folder, Map.of(PROGRAM_OPTIONS, options));
  }

  /// Starts a main class with the JVM options of a server.
  static BenchmarkProcess server(Class<?> main, String... arguments) throws IOException {
    return java(SERVER_OPTIONS, main, arguments);
  }

  /// Starts a main class.
  static BenchmarkProcess java(List<String> options, Class<?> main, String... arguments)
      throws IOException {
    var command = new ArrayList<String>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(options);
    command.addAll(List.of("-cp", classPath(), main.getName()));
    command.addAll(List.of(arguments));
    return start(command, Path.of(""));
  }

  /// The class path with absolute paths, because the process may run in another folder.
  private static String classPath() {
    var parts = new ArrayList<String>();
    for (var part : System.getProperty("java.class.path").split(File.pathSeparator, -1)) {
      parts.add(Path.of(part).toAbsolutePath().toString());
    }
    return String.join(File.pathSeparator, parts);
  }

  long pid() {
    return process.pid();
  }

  /// Waits for a line that begins with `beginning`, and returns the rest of it.
  String await(String beginning) throws IOException {
    for (var line = out.readLine(); line != null; line = out.readLine()) {
      if (line.startsWith(beginning)) {
        return line.substring(beginning.length()).strip();
      }
    }
    throw new IOException(
        "a process ended before it printed '" + beginning + "':\n" + Files.readString(errors));
  }

  /// The time of the first line of the log, on standard error, that contains `text`.
  Optional<Instant> logged(String text) throws IOException {
    try (var lines = Files.lines(errors)) {
      return lines
          .filter(line -> line.contains(text))
          .findFirst()
          .map(line -> LocalDateTime.parse(line.split(" ", 2)[0]))
          .map(time -> time.atZone(ZoneId.systemDefault()).toInstant());
    }
  }

  /// Ends the process at once, as a crash would.
  void kill() throws InterruptedException {
    process.destroyForcibly().waitFor();
  }

  @Override
  public void close() throws IOException {
    stop(PATIENCE_SECONDS);
  }

  /// Stops the process in order; kills it after `seconds`.
  void stop(int seconds) throws IOException {
    process.destroy();
    try {
      if (!process.waitFor(seconds, TimeUnit.SECONDS)) {
        process.destroyForcibly().waitFor();
      }
    } catch (InterruptedException later) {
      process.destroyForcibly();
      Thread.currentThread().interrupt();
    }
    Files.deleteIfExists(errors);
  }
}
