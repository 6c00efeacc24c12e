package dev.parley.encryption;

import dev.parley.encryption.ContentCipher.UndecryptableException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.UnaryOperator;
import javax.crypto.SecretKey;
import javax.crypto.spec.SecretKeySpec;

/// The wrapping keys of a store, which the master key has unwrapped. The last one wraps new keys.
/// Thread-safe.
///
/// There are two levels, so that a key management system is only asked once at start, and so that a
/// rotation can replace the level in between: see `docs/encryption.md`.
public final class KeyRing {

  private volatile TreeMap<Long, SecretKey> keys = new TreeMap<>();

  /// A new wrapping key, and its stored form.
  @SuppressWarnings("ArrayRecordComponent") // Never compared.
  public record NewWrappingKey(byte[] key, byte[] wrapped) {

    /// Creates a random one.
    public static NewWrappingKey create(MasterKey masterKey) {
      var key = AesGcm.randomKey();
      return new NewWrappingKey(key, masterKey.wrap(key));
    }

    /// Never shows the key.
    @Override
    public String toString() {
      return "a wrapping key";
    }
  }

  /// True if there is a wrapping key with this number.
  public boolean has(long id) {
    return keys.containsKey(id);
  }

  /// The number of the wrapping key that wraps new keys.
  public long current() {
    return keys.lastKey();
  }

  /// Replaces all wrapping keys, except that those that are known stay as they are. A key that is
  /// not known is unwrapped with `unwrap`.
  public synchronized void update(Map<Long, byte[]> stored, UnaryOperator<byte[]> unwrap) {
    var updated = new TreeMap<Long, SecretKey>();
    for (var entry : stored.entrySet()) {
      var known = keys.get(entry.getKey());
      updated.put(
          entry.getKey(),
          known != null ? known : new SecretKeySpec(unwrap.apply(entry.getValue()), "AES"));
    }
    keys = updated;
  }

  /// Wraps the key of a context with the current wrapping key. The result contains the number of
  /// that key, and belongs to this context only.
  public byte[] wrap(DataKey dataKey, long number, String context) {
    var newest = keys.lastEntry();
    var wrapped = AesGcm.encrypt(newest.getValue(), dataKey.bytes(), owner(number, context));
    return ByteBuffer.allocate(Long.BYTES + wrapped.length)
        .putLong(newest.getKey())
        .put(wrapped)
        .array();
  }

  /// The number of the wrapping key of a wrapped key.
  public static long wrappingKeyOf(byte[] wrapped) {
    if (wrapped.length < Long.BYTES) {
      throw new UndecryptableException("its key is incomplete");
    }
    return ByteBuffer.wrap(wrapped).getLong();
  }

  /// Unwraps the key of a context.
  ///
  /// @throws UndecryptableException if it belongs to another context, was changed, or its wrapping
  ///     key does not exist any more
  public DataKey unwrap(byte[] wrapped, long number, String context) {
    var key = keys.get(wrappingKeyOf(wrapped));
    if (key == null) {
      throw new UndecryptableException("its wrapping key was destroyed");
    }
    var rest = new byte[wrapped.length - Long.BYTES];
    System.arraycopy(wrapped, Long.BYTES, rest, 0, rest.length);
    return DataKey.of(AesGcm.decrypt(key, rest, owner(number, context)));
  }

  private static byte[] owner(long number, String context) {
    var id = context.getBytes(StandardCharsets.UTF_8);
    return ByteBuffer.allocate(Long.BYTES + id.length).putLong(number).put(id).array();
  }
}
