package dev.parley.auth;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.SecureRandom;
import java.util.Base64;

/// Proof Key for Code Exchange (RFC 7636): proves that the same client began and completes an OAuth
/// flow.
final class Pkce {

  private static final int BYTES = 32;
  private static final Base64.Encoder BASE64 = Base64.getUrlEncoder().withoutPadding();

  private Pkce() {}

  /// Returns 256 random bits, for a verifier or a state.
  static String secret(SecureRandom random) {
    var bytes = new byte[BYTES];
    random.nextBytes(bytes);
    return BASE64.encodeToString(bytes);
  }

  /// Returns the challenge for a verifier, with the method S256.
  static String challenge(String verifier) {
    try {
      var digest = MessageDigest.getInstance("SHA-256");
      return BASE64.encodeToString(digest.digest(verifier.getBytes(StandardCharsets.US_ASCII)));
    } catch (NoSuchAlgorithmException impossible) {
      throw new IllegalStateException(impossible);
    }
  }
}
