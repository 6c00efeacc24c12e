package dev.parley.auth;

import java.io.IOException;
import java.util.Optional;

/// Where the encrypted content of a vault is kept. For one thread at a time. Its text names it in
/// messages.
public interface VaultStorage {

  /// Returns the content, or empty if there is none. Content of more than `bytesMax` is not valid.
  Optional<byte[]> read(int bytesMax) throws IOException;

  /// Replaces the content durably, or fails and leaves it unchanged.
  void write(byte[] content) throws IOException;
}
