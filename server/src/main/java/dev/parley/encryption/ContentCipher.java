package dev.parley.encryption;

/// Encrypts values that are stored, each for one place. Thread-safe.
///
/// A value can only be decrypted at its place, so an attacker who can write the store cannot move
/// it to another row or column.
public sealed interface ContentCipher permits DataKey, ContentCipher.Unencrypted {

  /// Leaves all values as they are, and rejects encrypted ones.
  ContentCipher NONE = new Unencrypted();

  /// The place of a value: the name of its column, and two numbers that identify its row. What the
  /// numbers mean depends on the column; together they occur once.
  record ValuePlace(String column, long row, long part) {}

  /// Encrypts a value for this place.
  byte[] encrypt(byte[] plain, ValuePlace place);

  /// Decrypts what [#encrypt] returned for this place.
  ///
  /// @throws UndecryptableException if the value has changed, is of another place, or was encrypted
  ///     with another key
  byte[] decrypt(byte[] stored, ValuePlace place);

  /// Returns a short text that is equal for equal values and reveals nothing else about a value
  /// without the key; the value itself without encryption. Values of different purposes have
  /// different results.
  String fingerprint(String purpose, String value);

  /// Releases memory that only makes the next calls faster.
  default void releaseMemory() {}

  /// True if this encrypts.
  default boolean encrypts() {
    return this instanceof DataKey;
  }

  /// A value cannot be decrypted.
  final class UndecryptableException extends IllegalStateException {
    private static final long serialVersionUID = 1;

    public UndecryptableException(String message) {
      super(message);
    }
  }

  /// Stores values as they are.
  final class Unencrypted implements ContentCipher {

    private Unencrypted() {}

    @Override
    public byte[] encrypt(byte[] plain, ValuePlace place) {
      return plain;
    }

    @Override
    public byte[] decrypt(byte[] stored, ValuePlace place) {
      if (AesGcm.isEncrypted(stored)) {
        throw new UndecryptableException("it is encrypted, and its key is missing");
      }
      return stored;
    }

    @Override
    public String fingerprint(String purpose, String value) {
      return value;
    }
  }
}
