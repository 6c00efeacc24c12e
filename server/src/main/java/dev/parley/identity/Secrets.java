package dev.parley.identity;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.SecureRandom;
import java.util.Base64;
import java.util.HexFormat;

/// Creates credentials, and the hashes by which they are found. The text of a credential is never
/// stored. It has 256 random bits, so its hash needs no salt.
final class Secrets {

  static final String KEY = IssuedCredentials.PREFIX + "key_";
  static final String SESSION = IssuedCredentials.PREFIX + "session_";
  static final String INVITATION = IssuedCredentials.PREFIX + "invite_";
  static final String LINK = IssuedCredentials.PREFIX + "link_";
  static final String TICKET = IssuedCredentials.PREFIX + "ticket_";

  private static final int BYTES = 32;

  private final SecureRandom random;

  Secrets(SecureRandom random) {
    this.random = random;
  }

  String create(String prefix) {
    var bytes = new byte[BYTES];
    random.nextBytes(bytes);
    return prefix + Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
  }

  static String hash(String secret) {
    try {
      var digest = MessageDigest.getInstance("SHA-256");
      return HexFormat.of().formatHex(digest.digest(secret.getBytes(StandardCharsets.UTF_8)));
    } catch (NoSuchAlgorithmException impossible) {
      throw new IllegalStateException(impossible);
    }
  }
}
