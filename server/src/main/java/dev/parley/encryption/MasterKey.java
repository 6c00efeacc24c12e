package dev.parley.encryption;

import dev.parley.protocol.Rejection;

/// The key outside of the database that wraps the keys inside of it. Thread-safe; both methods may
/// take seconds, if the key is in a key management system.
public interface MasterKey {

  /// Encrypts a key of 32 bytes with the current version of the master key.
  ///
  /// @throws Rejection.Unavailable if the master key cannot be used
  byte[] wrap(byte[] key);

  /// Decrypts what [#wrap] returned, also with an earlier version of the master key.
  ///
  /// @throws Rejection.Unavailable if the master key cannot be used, or does not fit
  byte[] unwrap(byte[] wrapped);
}
