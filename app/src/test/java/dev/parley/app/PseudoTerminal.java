package dev.parley.app;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/// A shell command on a pseudo-terminal, which `script` of util-linux creates. Ends with the test.
final class PseudoTerminal implements AutoCloseable {

  private static final long PATIENCE_NANOS = Duration.ofSeconds(60).toNanos();

  private final Process process;
  // Guarded by itself; it also guards the position up to which the text was awaited.
  private final StringBuilder screen = new StringBuilder();
  private int seen;

  PseudoTerminal(String command, Map<String, String> environment) throws IOException {
    var builder = new ProcessBuilder("script", "-qefc", command, "/dev/null");
    builder.environment().keySet().removeIf(name -> name.matches("(?:PARLEY|ANTHROPIC|OPENAI)_.*"));
    builder
        .environment()
        .put(ParentProcessMonitor.VARIABLE, Long.toString(ProcessHandle.current().pid()));
    // The terminal of the tests may be missing or without colours.
    builder.environment().put("TERM", "xterm-256color");
    builder.environment().remove("NO_COLOR");
    builder.environment().putAll(environment);
    process = builder.redirectErrorStream(true).start();
    // Not a virtual thread: reading a pipe blocks its carrier.
    Thread.ofPlatform().daemon().name("reads-terminal").start(this::read);
  }

  /// True if this machine has `script`.
  static boolean available() throws IOException, InterruptedException {
    try {
      var version = new ProcessBuilder(List.of("script", "--version")).start();
      var text = new String(version.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      return version.waitFor() == 0 && text.contains("util-linux");
    } catch (IOException missing) {
      return false;
    }
  }

  void type(String keys) throws IOException {
    process.getOutputStream().write(keys.getBytes(StandardCharsets.UTF_8));
    process.getOutputStream().flush();
  }

  /// Waits until the screen has shown `text` after the text that was awaited last.
  void await(String text) throws InterruptedException {
    var end = System.nanoTime() + PATIENCE_NANOS;
    synchronized (screen) {
      while (screen.indexOf(text, seen) < 0) {
        var left = end - System.nanoTime();
        if (left <= 0 || !process.isAlive()) {
          throw new AssertionError(
              "there is no \"" + text + "\" on the screen:\n" + screen.substring(seen));
        }
        screen.wait(Math.min(TimeUnit.NANOSECONDS.toMillis(left) + 1, 100));
      }
      seen = screen.indexOf(text, seen) + text.length();
    }
  }

  String screen() {
    synchronized (screen) {
      return screen.toString().replace("\r\n", "\n");
    }
  }

  private void read() {
    var buffer = new byte[4096];
    try (InputStream input = process.getInputStream()) {
      for (var count = input.read(buffer); count >= 0; count = input.read(buffer)) {
        synchronized (screen) {
          screen.append(new String(buffer, 0, count, StandardCharsets.UTF_8));
          screen.notifyAll();
        }
      }
    } catch (IOException gone) {
      // The terminal was closed.
    }
  }

  @Override
  public void close() {
    process.descendants().forEach(ProcessHandle::destroyForcibly);
    process.destroyForcibly();
    try {
      process.waitFor(60, TimeUnit.SECONDS);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
