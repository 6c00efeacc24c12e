package dev.parley.mcp;

import dev.parley.mcp.Trouble.Kind;
import dev.parley.protocol.Json;
import dev.parley.protocol.Rejection;
import java.io.IOException;
import java.net.InetAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpClient.Redirect;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.StreamSupport;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// Finds out where one signs in to a server: first who is responsible for it (RFC 9728), then what they
/// offer (RFC 8414, or OpenID Connect's discovery). Safe for many threads.
///
/// Addresses come from strangers: only HTTPS is followed, or HTTP to this machine, without redirects.
final class Discovery implements AutoCloseable {

  private static final Duration PATIENCE = Duration.ofSeconds(10);
  private static final int DOCUMENT_BYTES_MAX = 256 * 1024;
  private static final String RESOURCE = "/.well-known/oauth-protected-resource";
  private static final String SERVER = "/.well-known/oauth-authorization-server";
  private static final String OPENID = "/.well-known/openid-configuration";

  private final HttpClient http =
      HttpClient.newBuilder().connectTimeout(PATIENCE).followRedirects(Redirect.NEVER).build();

  /// What is found about a server that refused with this challenge.
  OAuthServer find(McpServer.Http server, Challenge challenge)
      throws Trouble, InterruptedException {
    var resource = resource(server.url(), challenge);
    // Before there was RFC 9728 a server was its own authorization server.
    var issuer =
        resource
            .map(found -> found.path("authorization_servers").path(0).asString(""))
            .filter(found -> !found.isEmpty())
            .orElseGet(() -> Wire.origin(server.url()).toString());
    var metadata = issuer(issuer);
    var scopes =
        !challenge.scopes().isEmpty()
            ? challenge.scopes()
            : resource.map(found -> texts(found.path("scopes_supported"))).orElse(List.of());
    var name = resource.map(found -> found.path("resource").asString("")).orElse("");
    return new OAuthServer(
        metadata.path("issuer").asString(issuer),
        endpoint(metadata, "authorization_endpoint"),
        endpoint(metadata, "token_endpoint"),
        metadata.hasNonNull("registration_endpoint")
            ? endpoint(metadata, "registration_endpoint")
            : null,
        scopes,
        name.isEmpty() ? server.url().toString() : name);
  }

  @Override
  public void close() {
    http.shutdownNow();
  }

  /// What the server says about itself, if it does. It may speak for nobody else.
  private Optional<ObjectNode> resource(URI server, Challenge challenge)
      throws Trouble, InterruptedException {
    var candidates = new ArrayList<String>();
    challenge.resourceMetadata().ifPresent(candidates::add);
    var origin = Wire.origin(server).toString();
    candidates.add(origin + RESOURCE + path(server));
    candidates.add(origin + RESOURCE);
    var found = first(candidates);
    if (found.isPresent()) {
      var name = found.get().path("resource").asString("");
      if (!name.isEmpty() && !covers(name, server)) {
        throw new Trouble(Kind.REFUSED, "it calls itself " + Text.cut(name, 200));
      }
    }
    return found;
  }

  private static boolean covers(String resource, URI server) {
    try {
      var named = URI.create(resource);
      return named.getScheme() != null
          && Wire.origin(named).equals(Wire.origin(server))
          && path(server).startsWith(path(named));
    } catch (IllegalArgumentException noAddress) {
      return false;
    }
  }

  /// What an authorization server says about itself, and about nobody else.
  private ObjectNode issuer(String issuer) throws Trouble, InterruptedException {
    URI address;
    try {
      address = URI.create(issuer);
    } catch (IllegalArgumentException noAddress) {
      throw new Trouble(Kind.REFUSED, "it names no address to sign in at");
    }
    var origin = Wire.origin(address).toString();
    var path = path(address);
    var metadata =
        first(List.of(origin + SERVER + path, origin + OPENID + path, origin + path + OPENID))
            .orElseThrow(() -> new Trouble(Kind.REFUSED, "nothing says how, at " + issuer));
    var named = metadata.path("issuer").asString("");
    if (!named.equals(issuer) && !named.equals(origin + path) && !named.equals(issuer + "/")) {
      throw new Trouble(Kind.REFUSED, issuer + " calls itself " + Text.cut(named, 200));
    }
    if (!texts(metadata.path("code_challenge_methods_supported")).contains("S256")) {
      throw new Trouble(Kind.REFUSED, issuer + " does not support PKCE with S256");
    }
    return metadata;
  }

  private Optional<ObjectNode> first(List<String> addresses) throws InterruptedException {
    for (var address : addresses) {
      var document = get(address);
      if (document.isPresent()) {
        return document;
      }
    }
    return Optional.empty();
  }

  private Optional<ObjectNode> get(String address) throws InterruptedException {
    try {
      var uri = URI.create(address);
      if (!safe(uri)) {
        return Optional.empty();
      }
      var request =
          HttpRequest.newBuilder(uri).timeout(PATIENCE).header("Accept", "application/json");
      var answer = http.send(request.build(), BodyHandlers.ofInputStream());
      try (var body = answer.body()) {
        var bytes = body.readNBytes(DOCUMENT_BYTES_MAX);
        return answer.statusCode() == 200
            ? Optional.of(Json.read(bytes, ObjectNode.class))
            : Optional.empty();
      }
    } catch (IOException | IllegalArgumentException | Rejection.Invalid unusable) {
      return Optional.empty();
    }
  }

  private static boolean safe(URI uri) throws IOException {
    return "https".equals(uri.getScheme())
        || ("http".equals(uri.getScheme())
            && uri.getHost() != null
            && InetAddress.getByName(uri.getHost()).isLoopbackAddress());
  }

  private static String endpoint(JsonNode metadata, String name) throws Trouble {
    var address = metadata.path(name).asString("");
    try {
      if (safe(URI.create(address))) {
        return address;
      }
    } catch (IOException | IllegalArgumentException unusable) {
      // Told below.
    }
    throw new Trouble(Kind.REFUSED, "the address of its " + name + " cannot be used");
  }

  private static List<String> texts(JsonNode array) {
    return StreamSupport.stream(array.spliterator(), false).map(JsonNode::asString).toList();
  }

  private static String path(URI address) {
    var path = address.getRawPath() == null ? "" : address.getRawPath();
    return path.endsWith("/") ? path.substring(0, path.length() - 1) : path;
  }
}
