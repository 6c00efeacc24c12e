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
    return of(text.getBytes(StandardCharsets.UTF_8));
  }

  /// The hash of all parts, one after the other.
  public static byte[] of(byte[]... parts) {
    try {
      var digest = MessageDigest.getInstance("SHA-256");
      for (var part : parts) {
        digest.update(part);
      }
      return digest.digest();
    } catch (NoSuchAlgorithmException impossible) {
      throw new IllegalStateException(impossible);
    }
  }

  /// The hash of `prefix` and `bytes`, in hexadecimal digits.
  public static String hex(String prefix, byte[] bytes) {
    return HexFormat.of().formatHex(of(prefix.getBytes(StandardCharsets.UTF_8), bytes));
  }
}
