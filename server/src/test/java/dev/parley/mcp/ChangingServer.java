package dev.parley.mcp;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.parley.protocol.Json;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import tools.jackson.databind.node.ObjectNode;

/// A server that changes its tools without a notification: it has no stream for them. It offers a
/// tool once it has processed `initialized`, which takes a second, or until a client lists its
/// tools too early.
final class ChangingServer implements AutoCloseable {

  private static final String NONE = "";

  private final HttpServer http;
  private final CountDownLatch asked = new CountDownLatch(1);
  private final AtomicInteger lists = new AtomicInteger();
  private volatile String tool = NONE;

  ChangingServer() throws IOException {
    http = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    http.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
    http.createContext("/mcp", this::mcp);
    http.start();
  }

  McpServer server() {
    var url = URI.create("http://127.0.0.1:" + http.getAddress().getPort() + "/mcp");
    return new McpServer(
        "changing", new McpServer.HttpEndpoint(url, Map.of()), null, null, Duration.ofSeconds(10));
  }

  /// Replaces all tools by this one.
  void offers(String name) {
    tool = name;
  }

  /// The number of requests for its tools.
  int lists() {
    return lists.get();
  }

  @Override
  public void close() {
    http.stop(0);
  }

  private void mcp(HttpExchange exchange) throws IOException {
    if (!exchange.getRequestMethod().equals("POST")) {
      ProtectedServer.reply(exchange, 405, Json.object());
      return;
    }
    var request = Json.read(exchange.getRequestBody().readAllBytes(), ObjectNode.class);
    var result = Json.object();
    switch (request.path("method").asString()) {
      case "initialize" -> {
        result.set("protocolVersion", request.at("/params/protocolVersion"));
        result.putObject("capabilities").putObject("tools");
        exchange.getResponseHeaders().add("Mcp-Session-Id", "one");
      }
      case "tools/list" -> {
        var tools = result.putArray("tools");
        if (!tool.equals(NONE)) {
          tools.addObject().put("name", tool);
        }
        lists.incrementAndGet();
        asked.countDown();
      }
      default -> {
        hear();
        exchange.sendResponseHeaders(202, -1);
        exchange.close();
        return;
      }
    }
    ProtectedServer.answer(exchange, request, result);
  }

  private void hear() {
    try {
      var tooEarly = asked.await(1, TimeUnit.SECONDS);
      tool = tooEarly ? "too-late" : "in-time";
    } catch (InterruptedException stopped) {
      throw new UncheckedIOException(new IOException(stopped));
    }
  }
}
