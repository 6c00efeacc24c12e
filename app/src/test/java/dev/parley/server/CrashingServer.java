package dev.parley.server;

import dev.parley.protocol.Json;
import dev.parley.runtime.TestProgram;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;

/// A server in a process of its own, to be killed.
final class CrashingServer implements AutoCloseable {

  private final Process process;
  final String url;

  private CrashingServer(Process process, String url) {
    this.process = process;
    this.url = url;
  }

  /// Starts one on this port, or a free one if that is 0, with its data in `folder`.
  static CrashingServer start(Path folder, int port, String yaml) throws IOException {
    var file = Files.createDirectories(folder).resolve("parley.yaml");
    Files.writeString(file, yaml);
    var process =
        TestProgram.command(CrashingServer.class, file.toString(), String.valueOf(port))
            .redirectError(ProcessBuilder.Redirect.DISCARD)
            .start();
    return new CrashingServer(process, url(process.inputReader()));
  }

  private static String url(BufferedReader lines) throws IOException {
    for (var line = lines.readLine(); line != null; line = lines.readLine()) {
      if (line.startsWith("{")) {
        return Json.mapper().readTree(line).path("url").asString();
      }
    }
    throw new AssertionError("it did not start");
  }

  int port() {
    return java.net.URI.create(url).getPort();
  }

  /// Ends it as a crash does.
  void kill() throws InterruptedException {
    process.destroyForcibly().waitFor();
  }

  @Override
  public void close() {
    process.destroyForcibly();
  }

  /// The server itself.
  public static void main(String[] arguments) throws IOException {
    var file = Path.of(arguments[0]);
    var folder = file.getParent();
    var config =
        Config.load(
                file, new Config.ProcessEnvironment(Map.of(), folder, folder), TestServer.MODULES)
            .listeningOn("127.0.0.1", Integer.parseInt(arguments[1]))
            .keepingDataIn(folder.resolve("data"));
    try (var server = Server.start(config, TestServer.MODULES)) {
      System.out.println(Json.object().put("url", server.url()));
      // The end of the test's process closes this.
      System.in.transferTo(OutputStream.nullOutputStream());
    }
  }
}
