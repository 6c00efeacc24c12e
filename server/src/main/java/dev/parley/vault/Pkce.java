package dev.parley.vault;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.SecureRandom;
import java.util.Base64;

/// Proof that who ends an OAuth flow is who began it (RFC 7636).
final class Pkce {

  private static final int BYTES = 32;
  private static final Base64.Encoder BASE64 = Base64.getUrlEncoder().withoutPadding();

  private Pkce() {}

  /// 256 random bits, as a verifier or a state.
  static String secret(SecureRandom random) {
    var bytes = new byte[BYTES];
    random.nextBytes(bytes);
    return BASE64.encodeToString(bytes);
  }

  /// The challenge of a verifier, by the method S256.
  static String challenge(String verifier) {
    try {
      var digest = MessageDigest.getInstance("SHA-256");
      return BASE64.encodeToString(digest.digest(verifier.getBytes(StandardCharsets.US_ASCII)));
    } catch (NoSuchAlgorithmException impossible) {
      throw new IllegalStateException(impossible);
    }
  }
}
