package dev.parley.http;

import dev.parley.identity.Caller;
import dev.parley.identity.IssuedCredentials;
import dev.parley.identity.Revocations;
import dev.parley.protocol.Rejection;
import dev.parley.runtime.Time;
import java.net.InetAddress;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// Authenticates callers by the tokens of the configuration, of which it stores only hashes, and by
/// the credentials that the server has issued.
public final class ApiTokens {

  /// The principal of every caller when no tokens are configured.
  public static final String LOCAL = Caller.LOCAL;

  static final String COOKIE = "parley_token";
  private static final String BEARER = "Bearer ";

  /// A token: the name of its holder, its SHA-256 in hex, whether the holder may read internal events,
  /// and whether the holder administers people, groups and keys.
  public record ApiToken(String name, String sha256, boolean internal, boolean administer) {

    /// A token whose holder may read internal events.
    public ApiToken(String name, String sha256) {
      this(name, sha256, true);
    }

    /// A token whose holder administers nothing.
    public ApiToken(String name, String sha256, boolean internal) {
      this(name, sha256, internal, false);
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
  private final boolean required;
  private final IssuedCredentials issuedCredentials;
  private final LoginThrottle throttle;

  /// Only tokens of the configuration.
  public ApiTokens(List<ApiToken> tokens, Time time) {
    this(tokens, !tokens.isEmpty(), IssuedCredentials.none(), time);
  }

  /// @param required callers must send a credential, even if there are no tokens
  public ApiTokens(
      List<ApiToken> tokens, boolean required, IssuedCredentials issuedCredentials, Time time) {
    this.tokens = List.copyOf(tokens);
    this.required = required || !tokens.isEmpty();
    this.issuedCredentials = issuedCredentials;
    this.throttle = new LoginThrottle(time);
  }

  /// Reports credentials that end.
  public Revocations revocations() {
    return issuedCredentials.revocations();
  }

  /// The caller that has sent a ticket for this path from this address.
  ///
  /// @throws Rejection.Unauthorized if the ticket is unknown, has expired, or is for another path
  Caller callerOfTicket(String ticket, String path, InetAddress from) {
    return issuedCredentials
        .findTicket(ticket, path, from)
        .orElseThrow(
            () ->
                new Rejection.Unauthorized(
                    "this ticket is unknown, has expired, or is for another path: get another one"
                        + " with POST /api/tickets"));
  }

  /// Ends the sign-in that this credential belongs to, if it is one.
  void signOut(String credential) {
    if (credential.startsWith(IssuedCredentials.PREFIX)) {
      issuedCredentials.signOut(credential);
    }
  }

  /// True if callers must send a credential.
  boolean required() {
    return required;
  }

  /// The caller that has sent this credential from this address. A credential that the server has
  /// issued counts also if none is required, so that a revoked one does not become the local caller.
  ///
  /// @throws Rejection.Unauthorized if the credential is missing or unknown
  /// @throws Rejection.Busy if this address has tried too many wrong credentials
  public Caller caller(@Nullable String token, InetAddress from) {
    if (!required && (token == null || !token.startsWith(IssuedCredentials.PREFIX))) {
      return Caller.local(from);
    }
    if (token != null) {
      var hash = Sha256.of(token);
      throttle.check(from, hash);
      var known = find(token, from);
      if (known.isPresent()) {
        throttle.succeeded(from, hash);
        return known.get();
      }
      throttle.failed(from);
    }
    throw new Rejection.Unauthorized("a valid token is needed: Authorization: Bearer …");
  }

  /// The caller on a public path: as [#caller], but an unknown credential is ignored.
  Caller callerOnPublicPath(@Nullable String token, InetAddress from) {
    var known = token == null ? Optional.<Caller>empty() : find(token, from);
    return known.orElseGet(() -> required ? Caller.anonymous(from) : Caller.local(from));
  }

  /// The caller of a credential, if it is known.
  private Optional<Caller> find(String token, InetAddress from) {
    if (token.startsWith(IssuedCredentials.PREFIX)) {
      var issued = issuedCredentials.find(token, from);
      if (issued.isPresent()) {
        return issued;
      }
    }
    var hash = Sha256.of(token);
    var found = Optional.<Caller>empty();
    // Compares all of them, each in constant time, so that the time reveals nothing.
    for (var known : tokens) {
      if (MessageDigest.isEqual(hash, HexFormat.of().parseHex(known.sha256()))) {
        found = Optional.of(Caller.token(known.name(), known.administer(), from));
      }
    }
    return found;
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
