package dev.parley.encryption;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.util.Arrays;
import java.util.Base64;
import javax.crypto.Cipher;
import javax.crypto.Mac;
import javax.crypto.SecretKey;
import javax.crypto.spec.SecretKeySpec;
import org.jspecify.annotations.Nullable;

/// The key of one context. All of its stored content is encrypted with it.
public final class DataKey implements ContentCipher {

  private static final String MAC = "HmacSHA256";
  private static final int FINGERPRINT_BYTES = 16;

  private final SecretKey key;
  private final SecretKey fingerprintKey;

  /// A cipher for the next value, if it was used lately and nobody uses it now. Guarded by this.
  private @Nullable Cipher spare;

  private DataKey(byte[] bytes) {
    key = new SecretKeySpec(bytes, "AES");
    fingerprintKey =
        new SecretKeySpec(mac(new SecretKeySpec(bytes, MAC), ascii("fingerprint")), MAC);
  }

  /// Returns a new random key.
  public static DataKey random() {
    return new DataKey(AesGcm.randomKey());
  }

  static DataKey of(byte[] bytes) {
    if (bytes.length != AesGcm.KEY_BYTES) {
      throw new UndecryptableException("a key has a wrong length");
    }
    return new DataKey(bytes);
  }

  byte[] bytes() {
    return key.getEncoded();
  }

  @Override
  public byte[] encrypt(byte[] plain, ValuePlace place) {
    var kept = take();
    var cipher = kept == null ? AesGcm.newCipher() : kept;
    var encrypted = AesGcm.encrypt(cipher, key, plain, bytes(place));
    keep(cipher);
    return encrypted;
  }

  private synchronized @Nullable Cipher take() {
    var cipher = spare;
    spare = null;
    return cipher;
  }

  private synchronized void keep(@Nullable Cipher cipher) {
    spare = cipher;
  }

  @Override
  public void releaseMemory() {
    keep(null);
  }

  @Override
  public byte[] decrypt(byte[] stored, ValuePlace place) {
    return AesGcm.decrypt(key, stored, bytes(place));
  }

  @Override
  public String fingerprint(String purpose, String value) {
    var text = (purpose.length() + ":" + purpose + value).getBytes(StandardCharsets.UTF_8);
    var digest = Arrays.copyOf(mac(fingerprintKey, text), FINGERPRINT_BYTES);
    return Base64.getUrlEncoder().withoutPadding().encodeToString(digest);
  }

  /// The numbers come first and have a fixed length, so that no two places have the same bytes.
  private static byte[] bytes(ValuePlace place) {
    var column = ascii(place.column());
    return ByteBuffer.allocate(2 * Long.BYTES + column.length)
        .putLong(place.row())
        .putLong(place.part())
        .put(column)
        .array();
  }

  private static byte[] ascii(String text) {
    return text.getBytes(StandardCharsets.US_ASCII);
  }

  private static byte[] mac(SecretKey key, byte[] data) {
    try {
      var mac = Mac.getInstance(MAC);
      mac.init(key);
      return mac.doFinal(data);
    } catch (GeneralSecurityException impossible) {
      throw new IllegalStateException("this JVM has no HMAC", impossible);
    }
  }

  /// Never shows the key.
  @Override
  public String toString() {
    return "a key";
  }
}
