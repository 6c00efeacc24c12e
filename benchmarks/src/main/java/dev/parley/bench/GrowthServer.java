package dev.parley.bench;

import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;

/// The real program on a data folder, started by `./parley` if there is one.
final class GrowthServer implements AutoCloseable {

  private static final Pattern HEAP =
      Pattern.compile("(?m)^\\S*jvm_memory_used_bytes\\{area=\"heap\"\\} (\\S+)$");
  private static final int STOP_SECONDS = 120;

  /// The benchmark needs more streams than it keeps open.
  private static final String CONFIG = "limits: {maxStreams: 11000}\n";

  private final BenchmarkProcess process;
  private final int port;
  private final double startSeconds;

  private GrowthServer(BenchmarkProcess process, long begin) throws IOException {
    this.process = process;
    this.port = URI.create(process.await("Parley is ready: ")).getPort();
    this.startSeconds = (System.nanoTime() - begin) / 1e9;
  }

  static GrowthServer start(Path folder) throws IOException {
    var config = folder.resolve("parley.yaml");
    Files.writeString(config, CONFIG);
    var arguments =
        List.of(
            "serve",
            "--port",
            "0",
            "--data",
            folder.resolve("data").toString(),
            "--config",
            config.toString());
    var begin = System.nanoTime();
    return new GrowthServer(BenchmarkProcess.program(arguments, folder), begin);
  }

  int port() {
    return port;
  }

  /// From the start of the process to its ready line.
  double startSeconds() {
    return startSeconds;
  }

  long residentBytes() throws IOException {
    return MachineInfo.residentBytes(process.pid());
  }

  /// The heap in use after a collection.
  double heapBytes() throws IOException, InterruptedException {
    var jcmd = Path.of(System.getProperty("java.home"), "bin", "jcmd").toString();
    var collected =
        new ProcessBuilder(jcmd, Long.toString(process.pid()), "GC.run")
            .redirectErrorStream(true)
            .start();
    try (var out = collected.getInputStream()) {
      var text = new String(out.readAllBytes(), StandardCharsets.UTF_8);
      if (collected.waitFor() != 0) {
        throw new IOException("jcmd could not collect garbage: " + text);
      }
    }
    try (var httpConnection = new HttpConnection(port)) {
      var found = HEAP.matcher(httpConnection.get("/metrics"));
      if (!found.find()) {
        throw new IOException("the metrics of the server have no heap");
      }
      return Double.parseDouble(found.group(1));
    }
  }

  void kill() throws InterruptedException {
    process.kill();
  }

  /// Stops the server in order, however long that takes.
  @Override
  public void close() throws IOException {
    process.stop(STOP_SECONDS);
  }
}
