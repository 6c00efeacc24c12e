package dev.parley.http;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/// SHA-256.
public final class Sha256 {

  private Sha256() {}

  /// The hash of `text`.
  public static byte[] of(String text) {
    return sha256().digest(text.getBytes(StandardCharsets.UTF_8));
  }

  static String hex(String prefix, byte[] bytes) {
    var digest = sha256();
    digest.update(prefix.getBytes(StandardCharsets.UTF_8));
    return HexFormat.of().formatHex(digest.digest(bytes));
  }

  private static MessageDigest sha256() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException impossible) {
      throw new IllegalStateException(impossible);
    }
  }
}
