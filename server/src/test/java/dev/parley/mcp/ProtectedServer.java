package dev.parley.mcp;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.parley.protocol.Json;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// A server that requires a token, and names its authorization server.
public final class ProtectedServer implements AutoCloseable {

  /// The valid tokens.
  public final Set<String> good = ConcurrentHashMap.newKeySet();

  /// The sessions that were started.
  final Set<String> sessions = ConcurrentHashMap.newKeySet();

  private final HttpServer http;
  private volatile boolean openList;
  private volatile ObjectNode authorization;
  private volatile boolean metadataInHeader = true;
  private volatile @Nullable String metadataElsewhere;

  public ProtectedServer() throws IOException {
    http = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    http.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
    http.createContext("/mcp", this::mcp);
    http.createContext(
        "/.well-known/oauth-protected-resource/mcp", exchange -> reply(exchange, 200, resource()));
    http.createContext(
        "/.well-known/oauth-authorization-server/login",
        exchange -> reply(exchange, 200, authorization));
    authorization =
        Json.object()
            .put("issuer", url("/login"))
            .put("authorization_endpoint", url("/login/authorize"))
            .put("token_endpoint", url("/login/token"))
            .put("registration_endpoint", url("/login/register"));
    authorization.putArray("code_challenge_methods_supported").add("S256");
    http.start();
  }

  /// Allows listing the tools without a token.
  void openList() {
    openList = true;
  }

  /// Omits the address of the metadata from its challenges.
  void silentRefusals() {
    metadataInHeader = false;
  }

  /// Sets the address of the metadata in its challenges.
  void refersTo(String address) {
    metadataElsewhere = address;
  }

  /// Sets a field of the metadata of the authorization server.
  public void says(String name, String value) {
    authorization = authorization.deepCopy().put(name, value);
  }

  /// Disables client registration at the authorization server.
  public void withoutRegistration() {
    authorization = authorization.deepCopy();
    authorization.remove("registration_endpoint");
  }

  void withoutPkce() {
    authorization = authorization.deepCopy();
    authorization.remove("code_challenge_methods_supported");
  }

  public String url(String path) {
    return "http://127.0.0.1:" + http.getAddress().getPort() + path;
  }

  McpServer server(Map<String, String> headers) {
    return new McpServer(
        "safe",
        new McpServer.HttpEndpoint(URI.create(url("/mcp")), headers),
        null,
        null,
        Duration.ofSeconds(10));
  }

  @Override
  public void close() {
    http.stop(0);
  }

  private ObjectNode resource() {
    var resource = Json.object().put("resource", url("/mcp"));
    resource.putArray("authorization_servers").add(url("/login"));
    resource.putArray("scopes_supported").add("read").add("write");
    return resource;
  }

  private void mcp(HttpExchange exchange) throws IOException {
    var header = exchange.getRequestHeaders().getFirst("Authorization");
    var token = header == null ? "" : header.substring("Bearer ".length());
    if (!exchange.getRequestMethod().equals("POST")) {
      reply(exchange, 405, Json.object());
      return;
    }
    var request = Json.read(exchange.getRequestBody().readAllBytes(), ObjectNode.class);
    var method = request.path("method").asString();
    if (!good.contains(token) && !(openList && !method.equals("tools/call"))) {
      exchange
          .getResponseHeaders()
          .add(
              "WWW-Authenticate",
              metadataInHeader
                  ? "Bearer realm=\"x\", resource_metadata=\""
                      + (metadataElsewhere == null
                          ? url("/.well-known/oauth-protected-resource/mcp")
                          : metadataElsewhere)
                      + "\", scope=\"read\""
                  : "Bearer");
      reply(exchange, 401, Json.object());
      return;
    }
    var result = Json.object();
    switch (method) {
      case "initialize" -> {
        sessions.add(token);
        result.set("protocolVersion", request.at("/params/protocolVersion"));
        result.putObject("capabilities").putObject("tools");
        exchange.getResponseHeaders().add("Mcp-Session-Id", "of-" + token);
      }
      case "tools/list" -> result.putArray("tools").addObject().put("name", "whoami");
      case "tools/call" ->
          result
              .putArray("content")
              .addObject()
              .put("type", "text")
              .put(
                  "text", token + " in " + exchange.getRequestHeaders().getFirst("Mcp-Session-Id"));
      default -> {
        exchange.sendResponseHeaders(202, -1);
        exchange.close();
        return;
      }
    }
    answer(exchange, request, result);
  }

  /// Handles a JSON-RPC request.
  static void answer(HttpExchange exchange, ObjectNode request, ObjectNode result)
      throws IOException {
    var answer = Json.object().put("jsonrpc", "2.0");
    answer.set("id", request.get("id"));
    answer.set("result", result);
    reply(exchange, 200, answer);
  }

  static void reply(HttpExchange exchange, int status, ObjectNode body) throws IOException {
    var bytes = body.toString().getBytes(StandardCharsets.UTF_8);
    exchange.getResponseHeaders().add("Content-Type", "application/json");
    exchange.sendResponseHeaders(status, bytes.length);
    exchange.getResponseBody().write(bytes);
    exchange.close();
  }
}
