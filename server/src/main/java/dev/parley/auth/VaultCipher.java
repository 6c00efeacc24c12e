package dev.parley.auth;

import dev.parley.auth.Credential.CredentialKind;
import dev.parley.protocol.Rejection;
import java.nio.ByteBuffer;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.util.Base64;
import javax.crypto.Cipher;
import javax.crypto.SecretKey;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.SecretKeySpec;

/// Encrypts data that other parts of the server store in their own files. The key is in the vault.
/// The format is a nonce followed by AES-256-GCM output.
///
/// Safe for many threads.
public final class VaultCipher {

  private static final String OWNER = "#server";
  private static final String CIPHER = "AES/GCM/NoPadding";
  private static final int KEY = 32;
  private static final int NONCE = 12;
  private static final int TAG_BITS = 128;

  private final SecretKey key;
  private final SecureRandom random;

  private VaultCipher(SecretKey key, SecureRandom random) {
    this.key = key;
    this.random = random;
  }

  /// Returns the cipher for this purpose. Its key is created durably on first use.
  public static VaultCipher of(Vault vault, String purpose) {
    synchronized (vault) {
      var random = vault.sources().random();
      var kept = vault.find(CredentialKind.KEY, OWNER, purpose);
      if (kept.isEmpty()) {
        var bytes = new byte[KEY];
        random.nextBytes(bytes);
        var made = Credential.of(Base64.getEncoder().encodeToString(bytes));
        vault.put(CredentialKind.KEY, OWNER, purpose, made);
        kept = java.util.Optional.of(made);
      }
      var bytes = Base64.getDecoder().decode(kept.get().secret());
      return new VaultCipher(new SecretKeySpec(bytes, "AES"), random);
    }
  }

  public byte[] encrypt(byte[] plain) {
    var nonce = new byte[NONCE];
    random.nextBytes(nonce);
    try {
      var cipher = Cipher.getInstance(CIPHER);
      cipher.init(Cipher.ENCRYPT_MODE, key, new GCMParameterSpec(TAG_BITS, nonce));
      var sealed = cipher.doFinal(plain);
      return ByteBuffer.allocate(NONCE + sealed.length).put(nonce).put(sealed).array();
    } catch (GeneralSecurityException broken) {
      throw new IllegalStateException("AES-GCM is missing from this JDK", broken);
    }
  }

  /// Decrypts what [#encrypt] returned.
  ///
  /// @throws Rejection.Unavailable if it was encrypted with another key, or is damaged
  public byte[] decrypt(byte[] sealed) {
    try {
      var cipher = Cipher.getInstance(CIPHER);
      cipher.init(Cipher.DECRYPT_MODE, key, new GCMParameterSpec(TAG_BITS, sealed, 0, NONCE));
      return cipher.doFinal(sealed, NONCE, sealed.length - NONCE);
    } catch (GeneralSecurityException | IllegalArgumentException wrong) {
      throw new Rejection.Unavailable(
          "the data is damaged, or was encrypted with another vault key");
    }
  }
}
