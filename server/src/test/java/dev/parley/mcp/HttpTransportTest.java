package dev.parley.mcp;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.parley.protocol.Json;
import dev.parley.tool.FakeToolContext;
import dev.parley.tool.ToolResult;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.node.ObjectNode;

/// Tests unusual but valid behaviour of HTTP servers.
@Timeout(60)
class HttpTransportTest {

  private final List<String> resumed = new CopyOnWriteArrayList<>();
  private HttpServer http;
  private volatile ObjectNode pending = Json.object();
  private volatile boolean wantsSignIn;
  private volatile int resumeStatus = 200;
  private final AtomicInteger calls = new AtomicInteger();

  @BeforeEach
  void open() throws IOException {
    http = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    http.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
    http.createContext("/", this::answer);
    http.start();
  }

  @AfterEach
  void close() {
    http.stop(0);
  }

  private McpServers servers(String path) {
    var url = URI.create("http://127.0.0.1:" + http.getAddress().getPort() + path);
    return McpTestServers.start(
        new McpServer(
            "odd", new McpServer.HttpEndpoint(url, Map.of()), null, null, Duration.ofMinutes(1)));
  }

  @Test
  void an_address_needs_no_path() throws Exception {
    try (var servers = servers("")) {
      assertThat(McpTestServers.names(McpTestServers.tools(servers, "mcp:odd", "local")))
          .containsExactly("odd_late");
    }
  }

  @Test
  void an_answer_whose_stream_ends_before_it_is_fetched_after_the_last_event() throws Exception {
    try (var servers = servers("/mcp")) {
      var result = new McpTestContext().call(McpTestServers.tool(servers, "odd", "late"), "{}");

      assertThat(FakeToolContext.done(result).get("text").asString()).isEqualTo("late answer");
      assertThat(resumed).containsExactly("event-1");
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {400, 401, 404})
  void a_call_is_not_repeated_if_its_answer_cannot_be_fetched(int status) throws Exception {
    resumeStatus = status;
    try (var servers = servers("/mcp")) {
      var result = new McpTestContext().call(McpTestServers.tool(servers, "odd", "late"), "{}");

      assertThat(result).isInstanceOf(ToolResult.Failed.class);
      assertThat(result.toString()).contains("does not resume its response");
      assertThat(calls).hasValue(1);
    }
  }

  @Test
  void a_server_without_a_stream_can_still_want_a_sign_in() throws Exception {
    wantsSignIn = true;
    try (var servers = servers("/mcp")) {
      var tool = McpTestServers.tool(servers, "odd", "late");
      var result = new McpTestContext().call(tool, "{}");

      assertThat(result).isInstanceOf(ToolResult.Failed.class);
      assertThat(result.toString()).contains("a sign-in is required");
    }
  }

  private void answer(HttpExchange exchange) throws IOException {
    if (exchange.getRequestMethod().equals("GET")) {
      get(exchange);
      return;
    }
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
      case "tools/list" ->
          result
              .putArray("tools")
              .addObject()
              .put("name", "late")
              .putObject("inputSchema")
              .put("type", "object");
      case "tools/call" -> {
        if (wantsSignIn) {
          exchange.getResponseHeaders().add("WWW-Authenticate", "Bearer");
          ProtectedServer.reply(exchange, 401, Json.object());
          return;
        }
        calls.incrementAndGet();
        pending = request;
        stream(exchange, "id: event-1\nretry: 0\ndata: \n\n");
        return;
      }
      default -> {
        exchange.sendResponseHeaders(202, -1);
        exchange.close();
        return;
      }
    }
    ProtectedServer.answer(exchange, request, result);
  }

  private void get(HttpExchange exchange) throws IOException {
    var after = exchange.getRequestHeaders().getFirst("Last-Event-ID");
    if (after == null) {
      ProtectedServer.reply(exchange, 404, Json.object());
      return;
    }
    resumed.add(after);
    if (resumeStatus != 200) {
      exchange.getResponseHeaders().add("WWW-Authenticate", "Bearer");
      ProtectedServer.reply(exchange, resumeStatus, Json.object());
      return;
    }
    var answer = Json.object().put("jsonrpc", "2.0");
    answer.set("id", pending.get("id"));
    var content = answer.putObject("result").putArray("content").addObject();
    content.put("type", "text").put("text", "late answer");
    stream(exchange, "id: event-2\ndata: " + answer + "\n\n");
  }

  private static void stream(HttpExchange exchange, String events) throws IOException {
    exchange.getResponseHeaders().add("Content-Type", "text/event-stream");
    exchange.sendResponseHeaders(200, 0);
    exchange.getResponseBody().write(events.getBytes(StandardCharsets.UTF_8));
    exchange.close();
  }
}
