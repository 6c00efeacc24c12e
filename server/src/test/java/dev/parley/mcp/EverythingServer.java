package dev.parley.mcp;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;

/// The real server on its own port.
public final class EverythingServer implements AutoCloseable {

  /// Its standard input ends when the process that started it does.
  private static final String ENDS_WITH_PARENT =
      "data:text/javascript,process.stdin.on('end',()=>process.exit()).resume()";

  private static final int ATTEMPTS_MAX = 5;

  private int port;
  private Process process;

  private EverythingServer(int port, Process process) {
    this.port = port;
    this.process = process;
  }

  public static EverythingServer start() throws Exception {
    for (var attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
      // Another process may take the port before the server does.
      var port = free();
      var process = launch(port);
      if (process != null) {
        return new EverythingServer(port, process);
      }
    }
    throw new AssertionError("the server does not start");
  }

  public URI url() {
    return URI.create("http://127.0.0.1:" + port + "/mcp");
  }

  McpServer server() {
    return new McpServer(
        "everything",
        new McpServer.HttpEndpoint(url(), Map.of()),
        null,
        null,
        Duration.ofSeconds(30));
  }

  void stop() throws InterruptedException {
    process.destroyForcibly().waitFor();
  }

  void restart() throws Exception {
    stop();
    process = launch(port);
    if (process == null) {
      throw new AssertionError("another process took port " + port);
    }
  }

  @Override
  public void close() {
    process.destroyForcibly();
  }

  private static Process launch(int port) throws Exception {
    var builder =
        new ProcessBuilder(
            "node",
            "--import",
            ENDS_WITH_PARENT,
            McpTestServers.script("everything").toString(),
            "streamableHttp");
    builder.environment().put("PORT", Integer.toString(port));
    builder.redirectOutput(ProcessBuilder.Redirect.DISCARD);
    var process = builder.start();
    var errors =
        new BufferedReader(new InputStreamReader(process.getErrorStream(), StandardCharsets.UTF_8));
    for (var line = errors.readLine(); line != null; line = errors.readLine()) {
      if (line.contains("listening on port")) {
        Thread.ofPlatform().daemon().start(() -> drain(errors));
        return process;
      }
    }
    return null;
  }

  private static void drain(BufferedReader errors) {
    try (errors) {
      while (errors.readLine() != null) {}
    } catch (IOException ended) {
      // It was stopped.
    }
  }

  private static int free() throws IOException {
    try (var socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    }
  }
}
