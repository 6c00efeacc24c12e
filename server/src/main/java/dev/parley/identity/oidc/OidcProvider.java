package dev.parley.identity.oidc;

import com.nimbusds.jose.jwk.JWK;
import com.nimbusds.jose.jwk.JWKSet;
import dev.parley.net.OutgoingHttpClient;
import dev.parley.net.OutgoingHttpClient.BoundedResponse;
import dev.parley.net.ResponseTooLargeException;
import dev.parley.protocol.Json;
import dev.parley.protocol.Rejection;
import dev.parley.runtime.Time;
import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.charset.StandardCharsets;
import java.text.ParseException;
import java.time.Duration;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// Talks to the OpenID provider: its discovery document, keys, tokens and claims about a person.
///
/// The document and the keys are kept for an hour. An unknown key is looked for again, at most once
/// a minute, so that forged tokens cannot make the server send requests. For many threads; the lock
/// guards the keys.
final class OidcProvider {

  static final Duration KEPT = Duration.ofHours(1);
  static final Duration KEYS_AGAIN = Duration.ofMinutes(1);

  private static final Duration PATIENCE = Duration.ofSeconds(10);
  private static final int BYTES_MAX = 256 * 1024;
  private static final String DISCOVERY = "/.well-known/openid-configuration";

  /// The part of the discovery document that is used.
  record ProviderMetadata(
      String authorization,
      String token,
      String keys,
      @Nullable String userInfo,
      @Nullable String logout,
      boolean secretInBody,
      boolean namesItself) {}

  private record KnownMetadata(ProviderMetadata metadata, long until) {}

  /// The tokens of a person who has signed in at the provider.
  record IssuedTokens(String idToken, @Nullable String accessToken) {
    @Override
    public String toString() {
      return "tokens";
    }
  }

  private final OidcSettings settings;
  private final OutgoingHttpClient http;
  private final Time time;
  private final ReentrantLock lock = new ReentrantLock();
  private volatile @Nullable KnownMetadata metadata;
  private @Nullable JWKSet keys;
  private long keysUntil;
  private long keysAgainAt;

  OidcProvider(OidcSettings settings, OutgoingHttpClient http, Time time) {
    this.settings = settings;
    this.http = http;
    this.time = time;
  }

  /// The discovery document.
  ///
  /// @throws SignInRefused if the provider cannot be used
  ProviderMetadata metadata() {
    // Without the lock: if the provider is slow, people must not wait for each other.
    var known = metadata;
    if ((known == null) || (time.remaining(known.until()) <= 0)) {
      known = new KnownMetadata(parse(json(get(base() + DISCOVERY, null))), time.deadline(KEPT));
      metadata = known;
    }
    return known.metadata();
  }

  private String base() {
    var issuer = settings.issuer();
    return issuer.endsWith("/") ? issuer.substring(0, issuer.length() - 1) : issuer;
  }

  private ProviderMetadata parse(JsonNode document) {
    if (!document.path("issuer").asString("").equals(settings.issuer())) {
      throw new SignInRefused(
          "wrong-issuer", "the provider says that it has another issuer than the configuration");
    }
    var methods = document.path("token_endpoint_auth_methods_supported").toString();
    return new ProviderMetadata(
        endpoint(document, "authorization_endpoint"),
        endpoint(document, "token_endpoint"),
        endpoint(document, "jwks_uri"),
        optional(document, "userinfo_endpoint"),
        optional(document, "end_session_endpoint"),
        methods.contains("\"client_secret_post\"") && !methods.contains("\"client_secret_basic\""),
        document.path("authorization_response_iss_parameter_supported").asBoolean(false));
  }

  private @Nullable String optional(JsonNode document, String name) {
    return document.hasNonNull(name) ? endpoint(document, name) : null;
  }

  /// An endpoint uses TLS, unless the issuer itself is on this machine without TLS.
  private String endpoint(JsonNode document, String name) {
    var text = document.path(name).asString("");
    if (!text.startsWith("https://")
        && !(settings.issuer().startsWith("http://") && text.startsWith("http://"))) {
      throw unusable("its " + name + " is missing or does not use https");
    }
    try {
      return URI.create(text).toString();
    } catch (IllegalArgumentException malformed) {
      throw unusable("its " + name + " is not a URL");
    }
  }

  /// The public keys with this id, or all keys if the id is null.
  List<JWK> keys(@Nullable String id) {
    lock.lock();
    try {
      var known = keys;
      if (known == null || time.remaining(keysUntil) <= 0) {
        return chosen(fetchKeys(), id);
      }
      var found = chosen(known, id);
      return found.isEmpty() && time.remaining(keysAgainAt) <= 0 ? chosen(fetchKeys(), id) : found;
    } finally {
      lock.unlock();
    }
  }

  private static List<JWK> chosen(JWKSet keys, @Nullable String id) {
    return keys.getKeys().stream().filter(key -> id == null || id.equals(key.getKeyID())).toList();
  }

  /// Only with the lock.
  private JWKSet fetchKeys() {
    keysAgainAt = time.deadline(KEYS_AGAIN);
    var reply = get(metadata().keys(), null);
    try {
      var read = JWKSet.parse(new String(reply.body(), StandardCharsets.UTF_8));
      keys = read;
      keysUntil = time.deadline(KEPT);
      return read;
    } catch (ParseException malformed) {
      throw unusable("its keys cannot be read");
    }
  }

  /// Exchanges an authorization code.
  IssuedTokens exchange(String code, String verifier, String redirectUri) {
    var provider = metadata();
    var form = new LinkedHashMap<String, String>();
    form.put("grant_type", "authorization_code");
    form.put("code", code);
    form.put("redirect_uri", redirectUri);
    form.put("code_verifier", verifier);
    var request = request(provider.token());
    var secret = settings.clientSecret();
    if (secret != null && !provider.secretInBody()) {
      var both = encoded(settings.clientId()) + ":" + encoded(secret);
      request.header(
          "Authorization",
          "Basic " + Base64.getEncoder().encodeToString(both.getBytes(StandardCharsets.US_ASCII)));
    } else {
      form.put("client_id", settings.clientId());
      if (secret != null) {
        form.put("client_secret", secret);
      }
    }
    request.header("Content-Type", "application/x-www-form-urlencoded");
    var reply = send(request.POST(BodyPublishers.ofString(query(form))));
    if (reply.status() >= 400 && reply.status() < 500) {
      throw new SignInRefused("code-refused", "the provider has rejected the authorization code");
    }
    var tokens = json(checked(reply));
    var idToken = tokens.path("id_token").asString("");
    if (idToken.isEmpty()) {
      throw new SignInRefused("no-id-token", "the provider has sent no ID token");
    }
    return new IssuedTokens(
        idToken,
        tokens.path("access_token").isString() ? tokens.path("access_token").asString() : null);
  }

  /// More claims about the person of this token; empty if the provider offers none.
  Optional<JsonNode> userInfo(IssuedTokens tokens) {
    var endpoint = metadata().userInfo();
    return endpoint == null || tokens.accessToken() == null
        ? Optional.empty()
        : Optional.of(json(get(endpoint, tokens.accessToken())));
  }

  private BoundedResponse get(String url, @Nullable String token) {
    var request = request(url);
    if (token != null) {
      request.header("Authorization", "Bearer " + token);
    }
    return checked(send(request.GET()));
  }

  private static HttpRequest.Builder request(String url) {
    return HttpRequest.newBuilder(URI.create(url)).header("Accept", "application/json");
  }

  private BoundedResponse send(HttpRequest.Builder request) {
    try {
      return http.send(request.build(), BYTES_MAX, PATIENCE);
    } catch (ResponseTooLargeException large) {
      throw unusable("its response is too large");
    } catch (IOException | TimeoutException failed) {
      throw unusable("it cannot be reached");
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
      throw new Rejection.Unavailable("the server is stopping");
    }
  }

  private static BoundedResponse checked(BoundedResponse reply) {
    if (reply.status() != 200) {
      throw unusable("it has answered with status " + reply.status());
    }
    return reply;
  }

  private static JsonNode json(BoundedResponse reply) {
    try {
      return Json.read(reply.body(), ObjectNode.class);
    } catch (Rejection.Invalid malformed) {
      throw unusable("its response is not a JSON object");
    }
  }

  private static SignInRefused unusable(String reason) {
    return new SignInRefused(
        "provider-unusable",
        "the OpenID provider cannot be used: " + reason + ". Try again later.");
  }

  /// Parameters as a query or form.
  static String query(Map<String, String> parameters) {
    return parameters.entrySet().stream()
        .map(one -> one.getKey() + "=" + encoded(one.getValue()))
        .collect(Collectors.joining("&"));
  }

  private static String encoded(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8);
  }
}
