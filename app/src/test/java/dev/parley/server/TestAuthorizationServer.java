package dev.parley.server;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.parley.protocol.Json;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import tools.jackson.databind.node.ObjectNode;

/// An authorization server for tests that takes its protocol seriously: clients that registered, PKCE,
/// codes and refresh tokens that are good once.
final class TestAuthorizationServer implements AutoCloseable {

  /// What all its secrets have in common.
  static final String SECRET = "canary-login-";

  /// What happened, in order.
  final List<String> story = new CopyOnWriteArrayList<>();

  private final HttpServer http;
  private final Consumer<String> issued;
  private final Map<String, String> clients = new ConcurrentHashMap<>();
  private final Map<String, String> secrets = new ConcurrentHashMap<>();
  private final Map<String, Map<String, String>> codes = new ConcurrentHashMap<>();
  private final Map<String, Map<String, String>> refreshes = new ConcurrentHashMap<>();
  private final AtomicInteger counter = new AtomicInteger();
  private volatile int expiresIn = 3600;

  /// @param issued is told of every access token that is good
  TestAuthorizationServer(Consumer<String> issued) throws IOException {
    this.issued = issued;
    http = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    http.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
    http.createContext("/register", this::register);
    http.createContext("/authorize", this::authorize);
    http.createContext("/token", this::token);
    http.start();
  }

  String url(String path) {
    return "http://127.0.0.1:" + http.getAddress().getPort() + path;
  }

  /// How long the tokens that it gives out from now on are good.
  void expiresIn(int seconds) {
    expiresIn = seconds;
  }

  /// Makes all refresh tokens bad.
  void forget() {
    refreshes.clear();
  }

  /// Knows a client that was registered by hand, and wants its secret if it has one.
  void know(String client, String secret, String redirectUri) {
    clients.put(client, redirectUri);
    secrets.put(client, secret);
  }

  private void register(HttpExchange exchange) throws IOException {
    var wanted = Json.read(exchange.getRequestBody().readAllBytes(), ObjectNode.class);
    var id = "client" + counter.incrementAndGet();
    clients.put(id, wanted.at("/redirect_uris/0").asString());
    story.add("registered " + wanted.path("client_name").asString());
    reply(exchange, 201, Json.object().put("client_id", id));
  }

  /// As if the person said yes at once.
  private void authorize(HttpExchange exchange) throws IOException {
    var asked = parameters(exchange.getRequestURI().getRawQuery());
    var back = asked.get("redirect_uri");
    if (!"code".equals(asked.get("response_type"))
        || !"S256".equals(asked.get("code_challenge_method"))
        || back == null
        || !back.equals(clients.get(asked.get("client_id")))) {
      story.add("refused to authorize");
      reply(exchange, 400, Json.object().put("error", "invalid_request"));
      return;
    }
    var code = SECRET + "code-" + counter.incrementAndGet();
    codes.put(code, asked);
    story.add("authorized " + asked.get("scope") + " for " + asked.get("resource"));
    var query = "?code=" + encode(code) + "&state=" + encode(asked.get("state")) + "&extra=1";
    exchange.getResponseHeaders().add("Location", back + query);
    exchange.sendResponseHeaders(302, -1);
    exchange.close();
  }

  private void token(HttpExchange exchange) throws IOException {
    var asked =
        parameters(new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8));
    var grant = asked.getOrDefault("grant_type", "");
    var basic = exchange.getRequestHeaders().getFirst("Authorization");
    if (basic != null) {
      var both = new String(Base64.getDecoder().decode(basic.substring(6)), StandardCharsets.UTF_8);
      var parts = both.split(":", 2);
      asked.put("client_id", URLDecoder.decode(parts[0], StandardCharsets.UTF_8));
      asked.put("client_secret", URLDecoder.decode(parts[1], StandardCharsets.UTF_8));
    }
    var before =
        grant.equals("authorization_code")
            ? codes.remove(asked.getOrDefault("code", ""))
            : refreshes.remove(asked.getOrDefault("refresh_token", ""));
    if (before == null
        || !before.get("client_id").equals(asked.get("client_id"))
        || !secrets
            .getOrDefault(before.get("client_id"), "")
            .equals(asked.getOrDefault("client_secret", ""))
        || !before.get("resource").equals(asked.get("resource"))
        || (grant.equals("authorization_code") && !proves(asked, before))) {
      story.add("refused " + grant);
      reply(exchange, 400, Json.object().put("error", "invalid_grant"));
      return;
    }
    var token = SECRET + "token-" + counter.incrementAndGet();
    var refresh = SECRET + "refresh-" + counter.incrementAndGet();
    refreshes.put(refresh, before);
    issued.accept(token);
    story.add("granted " + grant);
    reply(
        exchange,
        200,
        Json.object()
            .put("access_token", token)
            .put("token_type", "Bearer")
            .put("expires_in", expiresIn)
            .put("refresh_token", refresh));
  }

  private static boolean proves(Map<String, String> asked, Map<String, String> before) {
    try {
      var digest =
          MessageDigest.getInstance("SHA-256")
              .digest(asked.getOrDefault("code_verifier", "").getBytes(StandardCharsets.US_ASCII));
      var challenge = Base64.getUrlEncoder().withoutPadding().encodeToString(digest);
      return challenge.equals(before.get("code_challenge"))
          && before.get("redirect_uri").equals(asked.get("redirect_uri"));
    } catch (NoSuchAlgorithmException impossible) {
      throw new IllegalStateException(impossible);
    }
  }

  static Map<String, String> parameters(String query) {
    var parameters = new HashMap<String, String>();
    for (var pair : query.split("&", -1)) {
      var parts = pair.split("=", 2);
      parameters.put(parts[0], URLDecoder.decode(parts[1], StandardCharsets.UTF_8));
    }
    return parameters;
  }

  static Map<String, String> parameters(URI uri) {
    return parameters(uri.getRawQuery());
  }

  private static String encode(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8);
  }

  private static void reply(HttpExchange exchange, int status, ObjectNode body) throws IOException {
    var bytes = body.toString().getBytes(StandardCharsets.UTF_8);
    exchange.getResponseHeaders().add("Content-Type", "application/json");
    exchange.sendResponseHeaders(status, bytes.length);
    exchange.getResponseBody().write(bytes);
    exchange.close();
  }

  @Override
  public void close() {
    http.stop(0);
  }
}
