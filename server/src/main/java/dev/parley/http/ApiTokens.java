package dev.parley.http;

import dev.parley.protocol.Rejection;
import dev.parley.runtime.Time;
import java.net.InetAddress;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// Authenticates callers by tokens, of which it stores only hashes.
public final class ApiTokens {

  /// The principal of every caller when no tokens are configured.
  public static final String LOCAL = "local";

  static final String COOKIE = "parley_token";
  private static final String BEARER = "Bearer ";

  /// A token: the name of its holder, its SHA-256 in hex, and whether the holder may read internal
  /// events.
  public record ApiToken(String name, String sha256, boolean internal) {

    /// A token whose holder may read internal events.
    public ApiToken(String name, String sha256) {
      this(name, sha256, true);
    }

    public ApiToken {
      if (name.isBlank() || name.equals(LOCAL)) {
        throw new Rejection.Invalid("a token needs a name other than " + LOCAL);
      }
      if (!sha256.matches("[0-9a-fA-F]{64}")) {
        throw new Rejection.Invalid("sha256 must be 64 hexadecimal digits: token " + name);
      }
    }
  }

  private final List<ApiToken> tokens;
  private final LoginThrottle throttle;

  public ApiTokens(List<ApiToken> tokens, Time time) {
    this.tokens = List.copyOf(tokens);
    this.throttle = new LoginThrottle(time);
  }

  /// True if callers must send a token.
  boolean required() {
    return !tokens.isEmpty();
  }

  /// The principal of a token that was sent from this address.
  ///
  /// @throws Rejection.Unauthorized if the token is missing or unknown
  /// @throws Rejection.Busy if this address has tried too many wrong tokens
  public String principal(@Nullable String token, InetAddress from) {
    if (!required()) {
      return LOCAL;
    }
    if (token != null) {
      var hash = Sha256.of(token);
      throttle.check(from, hash);
      var known = findPrincipal(token);
      if (known.isPresent()) {
        throttle.succeeded(from, hash);
        return known.get();
      }
      throttle.failed(from);
    }
    throw new Rejection.Unauthorized("a valid token is needed: Authorization: Bearer …");
  }

  /// The principal of a token, if it is known.
  Optional<String> findPrincipal(@Nullable String token) {
    if (token == null) {
      return Optional.empty();
    }
    var hash = Sha256.of(token);
    var found = "";
    // Compares all of them, each in constant time, so that the time reveals nothing.
    for (var known : tokens) {
      if (MessageDigest.isEqual(hash, HexFormat.of().parseHex(known.sha256()))) {
        found = known.name();
      }
    }
    return found.isEmpty() ? Optional.empty() : Optional.of(found);
  }

  /// The token in these headers, if there is one.
  public static @Nullable String fromHeaders(
      @Nullable String authorization, @Nullable String cookies) {
    if (authorization != null && authorization.regionMatches(true, 0, BEARER, 0, BEARER.length())) {
      return authorization.substring(BEARER.length()).strip();
    }
    return cookies == null ? null : cookie(cookies).orElse(null);
  }

  private static Optional<String> cookie(String cookies) {
    for (var cookie : cookies.split(";", -1)) {
      var text = cookie.strip();
      if (text.startsWith(COOKIE + "=")) {
        return Optional.of(text.substring(COOKIE.length() + 1));
      }
    }
    return Optional.empty();
  }
}
