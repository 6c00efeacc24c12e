package dev.parley.app;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;

/// The real program in its own process, as `mvn package` built it.
///
/// Ends with the test, by force if necessary.
final class RealProcess implements AutoCloseable {

  private static final String READY = "Parley is ready: ";
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  /// The jars of the program. `./check` makes a copy with a cache for a faster start; see
  /// `bin/verified-parley`.
  private static final Path LIB =
      Path.of(System.getProperty("parley.program", "target/parley/lib")).toAbsolutePath();

  private final Process process;
  private final List<String> out = new CopyOnWriteArrayList<>();
  private final List<String> err = new CopyOnWriteArrayList<>();
  private final CompletableFuture<URI> ready = new CompletableFuture<>();
  private final List<Thread> readers;

  private RealProcess(List<String> command, List<String> arguments) {
    this(command, arguments, Map.of());
  }

  private RealProcess(
      List<String> command, List<String> arguments, Map<String, String> environment) {
    var all = new ArrayList<>(command);
    all.addAll(arguments);
    var builder = new ProcessBuilder(all);
    // The environment may have the key of a model, which the tests must not use.
    builder.environment().keySet().removeIf(name -> name.matches("(?:PARLEY|ANTHROPIC|OPENAI)_.*"));
    // If the tests are killed, it ends too.
    builder
        .environment()
        .put(ParentProcessMonitor.VARIABLE, Long.toString(ProcessHandle.current().pid()));
    builder.environment().putAll(environment);
    try {
      process = builder.start();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    readers = List.of(reader(process.inputReader(), out), reader(process.errorReader(), err));
  }

  /// Starts `parley serve` on a free port, and waits until it is ready.
  static RealProcess serve(Path data, String... more) {
    var arguments = new ArrayList<>(List.of("serve", "--port", "0", "--data", data.toString()));
    arguments.addAll(List.of(more));
    var server = new RealProcess(java(List.of()), arguments);
    server.url();
    return server;
  }

  /// Starts `parley serve` such that it ends at a fail point, such as `begun:1`; see [HaltingFailPoint].
  static RealProcess serveUntil(String place, Path data, String... more) {
    var arguments = new ArrayList<>(List.of("serve", "--port", "0", "--data", data.toString()));
    arguments.addAll(List.of(more));
    var command = java(List.of());
    var server = new RealProcess(command, arguments, Map.of("PARLEY_FAIL_AT", place));
    server.url();
    return server;
  }

  /// Starts `parley serve` with a limit for the size of files, in KiB, as if the disk were full.
  static RealProcess serveOnSmallDisk(Path data, int kib) {
    var command =
        new ArrayList<>(List.of("bash", "-c", "ulimit -S -f " + kib + "; exec \"$@\"", "_"));
    command.addAll(java(List.of()));
    var server =
        new RealProcess(command, List.of("serve", "--port", "0", "--data", data.toString()));
    server.url();
    return server;
  }

  /// Starts `parley serve` with a umask that lets everyone read new files.
  static RealProcess serveWithoutUmask(Path data) {
    var command = new ArrayList<>(List.of("bash", "-c", "umask 000; exec \"$@\"", "_"));
    command.addAll(java(List.of()));
    var server =
        new RealProcess(command, List.of("serve", "--port", "0", "--data", data.toString()));
    server.url();
    return server;
  }

  /// Removes the limit of [#serveOnSmallDisk].
  void growDisk() throws IOException, InterruptedException {
    var grow = new ProcessBuilder("prlimit", "--pid", Long.toString(pid()), "--fsize=unlimited");
    if (grow.inheritIO().start().waitFor() != 0) {
      throw new IOException("prlimit failed");
    }
  }

  /// Starts `parley` with these arguments and does not wait.
  static RealProcess run(String... arguments) {
    return new RealProcess(java(List.of()), List.of(arguments));
  }

  /// Starts `parley` with additional environment variables.
  static RealProcess run(Map<String, String> environment, String... arguments) {
    return new RealProcess(java(List.of()), List.of(arguments), environment);
  }

  /// Starts `parley` with options for the JVM, such as `-Xmx64m`.
  static RealProcess run(List<String> jvmOptions, String... arguments) {
    return new RealProcess(java(jvmOptions), List.of(arguments));
  }

  /// The command that starts `parley`, without its arguments.
  static List<String> java(List<String> jvmOptions) {
    var command = new ArrayList<String>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.add("--enable-native-access=ALL-UNNAMED");
    // The process is too short-lived for the optimizing compiler.
    command.addAll(List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"));
    command.add("-Dorg.eclipse.jetty.util.referencesPerCacheLine=16");
    var cache = LIB.resolve("parley.aot");
    if (Files.exists(cache)) {
      command.addAll(List.of("-XX:AOTMode=auto", "-XX:AOTCache=" + cache));
      // A cache that does not fit is ignored.
      command.addAll(List.of("-Xlog:aot=off", "-Xlog:cds=off"));
    }
    command.addAll(jvmOptions);
    command.addAll(List.of("-cp", jars(), "dev.parley.app.Main"));
    return command;
  }

  private static String jars() {
    try (var files = Files.list(LIB)) {
      return files
          .map(Path::toString)
          .filter(name -> name.endsWith(".jar"))
          .sorted()
          .collect(Collectors.joining(System.getProperty("path.separator")));
    } catch (IOException missing) {
      throw new IllegalStateException("package the app first: there is no " + LIB, missing);
    }
  }

  /// Not a virtual thread: reading a pipe blocks its carrier.
  private Thread reader(BufferedReader from, List<String> to) {
    return Thread.ofPlatform().daemon().name("reads-parley").start(() -> read(from, to));
  }

  private void read(BufferedReader from, List<String> to) {
    try (from) {
      for (var line = from.readLine(); line != null; line = from.readLine()) {
        to.add(line);
        synchronized (to) {
          to.notifyAll();
        }
        if (line.startsWith(READY)) {
          ready.complete(URI.create(line.substring(READY.length())));
        }
      }
    } catch (IOException gone) {
      // The process was killed.
    }
  }

  /// The address of the server; waits until it is ready.
  URI url() {
    var _ =
        process.onExit().thenRun(() -> ready.completeExceptionally(new IllegalStateException()));
    try {
      return ready.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
    } catch (ExecutionException | TimeoutException never) {
      process.destroyForcibly();
      throw new IllegalStateException("parley did not get ready: " + out + " " + err, never);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(interrupted);
    }
  }

  long pid() {
    return process.pid();
  }

  boolean alive() {
    return process.isAlive();
  }

  /// Lines on standard output so far.
  List<String> out() {
    return List.copyOf(out);
  }

  /// Lines on standard error so far.
  List<String> err() {
    return List.copyOf(err);
  }

  /// Waits for a line on standard error that contains `text`.
  void awaitErr(String text) throws InterruptedException {
    var deadline = System.nanoTime() + PATIENCE.toNanos();
    synchronized (err) {
      while (err.stream().noneMatch(line -> line.contains(text))) {
        var left = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime());
        if (left <= 0) {
          throw new IllegalStateException("no line with '" + text + "': " + err);
        }
        err.wait(left);
      }
    }
  }

  /// Sends SIGTERM and waits. Returns the exit code.
  int terminate() throws InterruptedException {
    process.destroy();
    return await();
  }

  /// Kills the process and waits until it has ended.
  void kill() throws InterruptedException {
    process.destroyForcibly();
    var _ = await();
  }

  /// Waits for its end. Returns the exit code; all output has then been read.
  int await() throws InterruptedException {
    if (!process.waitFor(PATIENCE.toSeconds(), TimeUnit.SECONDS)) {
      process.destroyForcibly();
      throw new IllegalStateException("parley did not end: " + out + " " + err);
    }
    for (var reader : readers) {
      reader.join();
    }
    return process.exitValue();
  }

  @Override
  public void close() {
    process.destroyForcibly();
    try {
      process.waitFor(PATIENCE.toSeconds(), TimeUnit.SECONDS);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
