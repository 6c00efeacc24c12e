package dev.parley.bench;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;

/// The real program, and the port on which it is ready.
record BenchmarkServer(BenchmarkProcess process, int port) implements AutoCloseable {

  private static final String CONFIG = "limits: {maxConcurrentTasks: 2000, taskTimeout: 1h}\n";

  /// Starts a server with a data folder of this name; `more` has further arguments.
  static BenchmarkServer start(TemporaryFolder temporaryFolder, String name, List<String> more)
      throws IOException {
    return start(temporaryFolder, name, "", more);
  }

  /// The same with further lines of configuration.
  static BenchmarkServer start(
      TemporaryFolder temporaryFolder, String name, String yaml, List<String> more)
      throws IOException {
    var folder = temporaryFolder.path();
    var config = folder.resolve("parley-" + name + ".yaml");
    Files.writeString(config, CONFIG + yaml);
    var arguments =
        new ArrayList<>(
            List.of(
                "serve",
                "--port",
                "0",
                "--data",
                folder.resolve(name).toString(),
                "--config",
                config.toString()));
    arguments.addAll(more);
    var process = BenchmarkProcess.program(arguments, folder);
    return new BenchmarkServer(process, URI.create(process.await("Parley is ready: ")).getPort());
  }

  @Override
  public void close() throws IOException {
    process.close();
  }
}
