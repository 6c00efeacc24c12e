package dev.parley.auth;

import dev.parley.auth.Credential.RegisteredClient;
import dev.parley.auth.Credential.TokenRenewal;
import dev.parley.net.AddressPolicy;
import dev.parley.net.OutgoingHttpClient;
import dev.parley.protocol.Json;
import dev.parley.protocol.Rejection;
import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// HTTP client for authorization servers: registers Parley (RFC 7591) and requests tokens (RFC
/// 6749).
///
/// Requests and responses never appear in messages or log lines. Safe for many threads.
public final class TokenClient {

  private static final Duration PATIENCE = Duration.ofSeconds(10);
  private static final int ANSWER_BYTES_MAX = 256 * 1024;
  private static final String FORM = "application/x-www-form-urlencoded";
  private static final String JSON = "application/json";

  private final OutgoingHttpClient http;
  private final AddressPolicy addresses;

  /// @param addresses decides which authorization servers may be contacted
  public TokenClient(OutgoingHttpClient http, AddressPolicy addresses) {
    this.http = http;
    this.addresses = addresses;
  }

  /// Checks that the server may connect to an endpoint.
  ///
  /// @throws Rejection.Invalid if it may not; the message has the reason
  void check(String endpoint) {
    try {
      var _ = addresses.checkForCredentials(endpoint);
    } catch (AddressPolicy.UnknownHost later) {
      // The host name may resolve when the request is sent.
    } catch (AddressPolicy.AddressRejected addressRejected) {
      throw new Rejection.Invalid("cannot sign in: " + addressRejected.getMessage());
    }
  }

  /// The outcome of a request.
  sealed interface TokenReply {
    /// The request succeeded.
    record TokenSuccess(ObjectNode json) implements TokenReply {
      @Override
      public String toString() {
        return "done";
      }
    }

    /// The server rejected the request, with an error code of RFC 6749 or an empty one.
    record TokenRefusal(String error) implements TokenReply {}

    /// The outcome is unknown. The request may be sent again.
    record EndpointUnreachable() implements TokenReply {}
  }

  /// Registers Parley at a server that allows dynamic client registration.
  RegisteredClient register(String endpoint, String redirectUri, List<String> scopes)
      throws InterruptedException {
    check(endpoint);
    var wanted =
        Json.object().put("client_name", "Parley").put("token_endpoint_auth_method", "none");
    wanted.putArray("redirect_uris").add(redirectUri);
    wanted.putArray("grant_types").add("authorization_code").add("refresh_token");
    wanted.putArray("response_types").add("code");
    if (!scopes.isEmpty()) {
      wanted.put("scope", String.join(" ", scopes));
    }
    var request = request(endpoint, JSON).POST(BodyPublishers.ofByteArray(Json.bytes(wanted)));
    if (send(request) instanceof TokenReply.TokenSuccess(var made)) {
      var id = made.path("client_id").asString("");
      if (!id.isEmpty()) {
        var secret = made.path("client_secret").asString("");
        var basic =
            made.path("token_endpoint_auth_method").asString("").equals("client_secret_basic");
        return new RegisteredClient(id, secret.isEmpty() ? null : secret, basic);
      }
    }
    throw new Rejection.Invalid("the authorization server rejected the client registration");
  }

  /// Sends a request to a token endpoint.
  TokenReply token(
      String endpoint, RegisteredClient registeredClient, Map<String, String> parameters)
      throws InterruptedException {
    var form = new LinkedHashMap<>(parameters);
    var request = request(endpoint, FORM);
    var secret = registeredClient.secret();
    if (secret != null && registeredClient.basic()) {
      var both = encoded(registeredClient.id()) + ":" + encoded(secret);
      var header = Base64.getEncoder().encodeToString(both.getBytes(StandardCharsets.US_ASCII));
      request.header("Authorization", "Basic " + header);
    } else {
      form.put("client_id", registeredClient.id());
      if (secret != null) {
        form.put("client_secret", secret);
      }
    }
    return send(request.POST(BodyPublishers.ofString(query(form))));
  }

  /// Encodes parameters as a query string or a form.
  static String query(Map<String, String> parameters) {
    return parameters.entrySet().stream()
        .map(entry -> encoded(entry.getKey()) + "=" + encoded(entry.getValue()))
        .collect(Collectors.joining("&"));
  }

  private static String encoded(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8);
  }

  private static HttpRequest.Builder request(String endpoint, String type) {
    return HttpRequest.newBuilder(URI.create(endpoint))
        .header("Content-Type", type)
        .header("Accept", JSON);
  }

  private TokenReply send(HttpRequest.Builder request) throws InterruptedException {
    try {
      var wanted = request.build();
      addresses.checkForCredentials(wanted.uri().toString());
      var answer = http.send(wanted, ANSWER_BYTES_MAX, PATIENCE);
      var json = read(answer.body());
      if (json != null && answer.status() / 100 == 2) {
        return new TokenReply.TokenSuccess(json);
      }
      return answer.status() / 100 == 5
          ? new TokenReply.EndpointUnreachable()
          : new TokenReply.TokenRefusal(json == null ? "" : json.path("error").asString(""));
    } catch (IOException | TimeoutException | AddressPolicy.AddressRejected gone) {
      return new TokenReply.EndpointUnreachable();
    }
  }

  private static @Nullable ObjectNode read(byte[] bytes) {
    try {
      return Json.read(bytes, ObjectNode.class);
    } catch (Rejection.Invalid notJson) {
      return null;
    }
  }

  /// Converts responses of token endpoints to credentials.
  static final class TokenParser {

    private static final int TOKEN_MAX = 16 * 1024;
    private static final long SECONDS_MAX = 10L * 365 * 24 * 3600;

    private TokenParser() {}

    /// Returns the credential in a response, if it has a valid bearer token. The refresh token in
    /// `renewal` is used if the response has none.
    static Optional<Credential> read(ObjectNode answer, TokenRenewal tokenRenewal, Instant now) {
      var token = answer.path("access_token").asString("");
      var type = answer.path("token_type").asString("bearer");
      if (token.isEmpty()
          || token.length() > TOKEN_MAX
          || !token.chars().allMatch(c -> c > 0x20 && c < 0x7f)
          || !type.equalsIgnoreCase("bearer")) {
        return Optional.empty();
      }
      var fresh = answer.path("refresh_token").asString(tokenRenewal.refreshToken());
      var seconds = answer.path("expires_in").asLong(0);
      @Nullable Instant expires =
          seconds > 0 ? now.plusSeconds(Math.min(seconds, SECONDS_MAX)) : null;
      @Nullable TokenRenewal again =
          fresh.isEmpty()
              ? null
              : new TokenRenewal(
                  fresh,
                  tokenRenewal.tokenEndpoint(),
                  tokenRenewal.client(),
                  tokenRenewal.resource(),
                  List.copyOf(tokenRenewal.scopes()));
      return Optional.of(new Credential(token, expires, again, now));
    }
  }
}
