package dev.parley.auth;

import dev.parley.auth.Credential.TokenRenewal;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// Converts responses of token endpoints to credentials.
final class TokenParser {

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
