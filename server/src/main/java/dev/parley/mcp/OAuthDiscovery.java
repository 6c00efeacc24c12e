package dev.parley.mcp;

import dev.parley.mcp.McpFailure.FailureKind;
import dev.parley.net.AddressPolicy;
import dev.parley.net.AddressPolicy.AddressRejected;
import dev.parley.net.OutgoingHttpClient;
import dev.parley.protocol.Json;
import dev.parley.protocol.Rejection;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.net.URI;
import java.net.http.HttpRequest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.TimeoutException;
import java.util.regex.Pattern;
import java.util.stream.StreamSupport;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// Finds the authorization server of an MCP server: first the resource metadata (RFC 9728), then
/// the metadata of the authorization server (RFC 8414 or OpenID Connect Discovery). Safe for many
/// threads.
///
/// The addresses come from other servers. The [AddressPolicy] checks each one before a request is
/// sent: it must be public, belong to the configured server, or be named by the operator. Redirects
/// are not followed.
final class OAuthDiscovery {

  private static final System.Logger LOG = System.getLogger(OAuthDiscovery.class.getName());
  private static final Duration PATIENCE = Duration.ofSeconds(10);
  private static final int DOCUMENT_BYTES_MAX = 256 * 1024;
  private static final String RESOURCE = "/.well-known/oauth-protected-resource";
  private static final String SERVER = "/.well-known/oauth-authorization-server";
  private static final String OPENID = "/.well-known/openid-configuration";

  private final OutgoingHttpClient http;
  private final AddressPolicy policy;

  OAuthDiscovery(OutgoingHttpClient http, AddressPolicy policy) {
    this.http = http;
    this.policy = policy;
  }

  /// Finds the authorization server of a server that responded with this challenge.
  OAuthServer find(McpServer.HttpEndpoint server, BearerChallenge bearerChallenge)
      throws McpFailure, InterruptedException {
    var allowed = policy.allowing(server.url());
    var resource = resource(server.url(), bearerChallenge, allowed);
    // Before RFC 9728 a server was its own authorization server.
    var issuer =
        resource
            .map(found -> found.path("authorization_servers").path(0).asString(""))
            .filter(found -> !found.isEmpty())
            .orElseGet(() -> origin(server.url()).toString());
    var metadata = issuer(issuer, resource.isEmpty(), allowed);
    var scopes =
        !bearerChallenge.scopes().isEmpty()
            ? bearerChallenge.scopes()
            : resource.map(found -> texts(found.path("scopes_supported"))).orElse(List.of());
    var name = resource.map(found -> found.path("resource").asString("")).orElse("");
    return new OAuthServer(
        metadata.path("issuer").asString(issuer),
        page(metadata, "authorization_endpoint"),
        endpoint(metadata, "token_endpoint", allowed),
        metadata.hasNonNull("registration_endpoint")
            ? endpoint(metadata, "registration_endpoint", allowed)
            : null,
        scopes,
        name.isEmpty() ? server.url().toString() : name);
  }

  /// The resource metadata of the server, if there is any. It must describe this server.
  private Optional<ObjectNode> resource(
      URI server, BearerChallenge bearerChallenge, AddressPolicy allowed)
      throws McpFailure, InterruptedException {
    var candidates = new ArrayList<String>();
    bearerChallenge.resourceMetadata().ifPresent(candidates::add);
    var origin = origin(server).toString();
    candidates.add(origin + RESOURCE + path(server));
    candidates.add(origin + RESOURCE);
    var found = first(candidates, allowed);
    if (found.isPresent()) {
      var name = found.get().path("resource").asString("");
      if (!name.isEmpty() && !covers(name, server)) {
        throw new McpFailure(
            FailureKind.REJECTED,
            "its metadata names another resource: " + BoundedText.cut(name, 200));
      }
    }
    return found;
  }

  private static boolean covers(String resource, URI server) {
    try {
      var named = URI.create(resource);
      return named.getScheme() != null
          && origin(named).equals(origin(server))
          && path(server).startsWith(path(named));
    } catch (IllegalArgumentException noAddress) {
      return false;
    }
  }

  /// The metadata of an authorization server, which must describe that server. If the MCP server
  /// has no resource metadata (MCP 2025-03-26), the `own` metadata is at the root of its origin,
  /// and its issuer may be anywhere on that origin.
  private ObjectNode issuer(String issuer, boolean own, AddressPolicy allowed)
      throws McpFailure, InterruptedException {
    URI address;
    try {
      address = URI.create(issuer);
    } catch (IllegalArgumentException noAddress) {
      throw new McpFailure(
          FailureKind.REJECTED, "its metadata names no valid authorization server");
    }
    var origin = origin(address).toString();
    var path = path(address);
    var metadata =
        first(
                List.of(origin + SERVER + path, origin + OPENID + path, origin + path + OPENID),
                allowed)
            .orElseThrow(
                () -> new McpFailure(FailureKind.REJECTED, "no metadata was found at " + issuer));
    var named = metadata.path("issuer").asString("");
    if (!named.equals(issuer)
        && !named.equals(origin + path)
        && !named.equals(issuer + "/")
        && !(own && named.startsWith(origin + "/"))) {
      throw new McpFailure(
          FailureKind.REJECTED, issuer + " names another issuer: " + BoundedText.cut(named, 200));
    }
    if (!texts(metadata.path("code_challenge_methods_supported")).contains("S256")) {
      throw new McpFailure(FailureKind.REJECTED, issuer + " does not support PKCE with S256");
    }
    return metadata;
  }

  private Optional<ObjectNode> first(List<String> addresses, AddressPolicy allowed)
      throws InterruptedException {
    for (var address : addresses) {
      var document = get(address, allowed);
      if (document.isPresent()) {
        return document;
      }
    }
    return Optional.empty();
  }

  private Optional<ObjectNode> get(String address, AddressPolicy allowed)
      throws InterruptedException {
    try {
      var uri = allowed.checkForCredentials(address).uri();
      var request = HttpRequest.newBuilder(uri).header("Accept", "application/json");
      var answer = http.send(request.build(), DOCUMENT_BYTES_MAX, PATIENCE);
      return answer.status() == 200
          ? Optional.of(Json.read(answer.body(), ObjectNode.class))
          : Optional.empty();
    } catch (AddressRejected addressRejected) {
      LOG.log(
          Level.WARNING,
          "sign-in discovery skipped {0}: {1}",
          address,
          addressRejected.getMessage());
      return Optional.empty();
    } catch (IOException
        | TimeoutException
        | IllegalArgumentException
        | Rejection.Invalid unusable) {
      return Optional.empty();
    }
  }

  /// An address that is only opened in the person's browser. The server sends no requests to it.
  private static String page(JsonNode metadata, String name) throws McpFailure {
    var address = metadata.path(name).asString("");
    try {
      return AddressPolicy.allowAll().checkForCredentials(address).uri().toString();
    } catch (AddressRejected addressRejected) {
      throw unusable(name, addressRejected);
    }
  }

  private static String endpoint(JsonNode metadata, String name, AddressPolicy allowed)
      throws McpFailure {
    var address = metadata.path(name).asString("");
    try {
      return allowed.checkForCredentials(address).uri().toString();
    } catch (AddressRejected addressRejected) {
      throw unusable(name, addressRejected);
    }
  }

  private static McpFailure unusable(String name, AddressRejected addressRejected) {
    var reason = BoundedText.cut(String.valueOf(addressRejected.getMessage()), 300);
    return new McpFailure(FailureKind.REJECTED, "its " + name + " cannot be used: " + reason);
  }

  private static List<String> texts(JsonNode array) {
    return StreamSupport.stream(array.spliterator(), false).map(JsonNode::asString).toList();
  }

  /// The scheme, host and port of an address.
  private static URI origin(URI url) {
    return URI.create(url.getScheme() + "://" + url.getRawAuthority());
  }

  private static String path(URI address) {
    var path = address.getRawPath() == null ? "" : address.getRawPath();
    return path.endsWith("/") ? path.substring(0, path.length() - 1) : path;
  }

  /// The authorization server of an MCP server: its endpoints, the scopes to request, and the
  /// `resource` (RFC 8707). It supports PKCE with S256.
  public record OAuthServer(
      String issuer,
      String authorizationEndpoint,
      String tokenEndpoint,
      @Nullable String registrationEndpoint,
      List<String> scopes,
      String resource) {

    public OAuthServer {
      scopes = List.copyOf(scopes);
    }

    /// Parses the output of [#json], such as the metadata of a sign-in.
    ///
    /// @throws dev.parley.protocol.Rejection.Invalid if it is something else
    public static OAuthServer of(ObjectNode json) {
      return Json.read(json, OAuthServer.class);
    }

    /// Converts it to JSON. None of it is secret.
    public ObjectNode json() {
      return Json.mapper().valueToTree(this);
    }
  }

  /// The response of a server that rejects a request because a token is missing or insufficient
  /// (RFC 6750, RFC 9728).
  record BearerChallenge(int status, Map<String, String> parameters) {

    static final BearerChallenge NONE = new BearerChallenge(401, Map.of());

    private static final Pattern PARAMETER =
        Pattern.compile("([A-Za-z_]+)\\s*=\\s*(?:\"([^\"]{0,2000})\"|([^\\s,\"]{1,2000}))");

    BearerChallenge {
      parameters = Map.copyOf(parameters);
    }

    /// Parses the `WWW-Authenticate` headers of a response.
    static BearerChallenge of(int status, List<String> headers) {
      var parameters = new TreeMap<String, String>();
      for (var header : headers) {
        if (header.toLowerCase(Locale.ROOT).startsWith("bearer")) {
          PARAMETER
              .matcher(header)
              .results()
              .forEach(
                  found ->
                      parameters.putIfAbsent(
                          found.group(1).toLowerCase(Locale.ROOT),
                          found.group(2) == null ? found.group(3) : found.group(2)));
        }
      }
      return new BearerChallenge(status, parameters);
    }

    /// True if the request needs a token, or a token with more scopes.
    boolean requiresSignIn() {
      return status == 401 || "insufficient_scope".equals(parameters.get("error"));
    }

    Optional<String> resourceMetadata() {
      return Optional.ofNullable(parameters.get("resource_metadata"));
    }

    List<String> scopes() {
      var scopes = parameters.getOrDefault("scope", "").strip();
      return scopes.isEmpty() ? List.of() : List.of(scopes.split("\\s+", -1));
    }
  }
}
