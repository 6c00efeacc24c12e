package dev.parley.auth;

import dev.parley.auth.VaultFile.PrivateFileWriter;
import dev.parley.protocol.Rejection;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFilePermission;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.Base64;
import java.util.EnumSet;
import java.util.Optional;
import javax.crypto.SecretKey;
import javax.crypto.SecretKeyFactory;
import javax.crypto.spec.PBEKeySpec;
import javax.crypto.spec.SecretKeySpec;
import org.jspecify.annotations.Nullable;

/// The source of a vault's key. `salt` is stored in the vault; only passphrases use it.
sealed interface VaultKey {

  String FILE = "vault.key";
  int BYTES = 32;

  /// The number that OWASP recommends for PBKDF2 with HMAC-SHA-256 (2023).
  int ITERATIONS = 600_000;

  int PASSPHRASE_MIN = 12;

  /// Returns the key of an existing vault.
  ///
  /// @throws Rejection if the key is missing or unusable
  SecretKey forExistingVault(byte[] salt);

  /// Returns the key for a new vault.
  default SecretKey forNewVault(byte[] salt) {
    return forExistingVault(salt);
  }

  static VaultKey of(Path folder, @Nullable String key, Vault.VaultSources vaultSources) {
    return key == null ? new KeyFile(folder, vaultSources.random()) : of(key, vaultSources);
  }

  static VaultKey of(String key, Vault.VaultSources vaultSources) {
    var raw = bytes(key.strip());
    if (raw.isPresent()) {
      return new RawKey(raw.get());
    }
    if (key.length() < PASSPHRASE_MIN) {
      throw new Rejection.Invalid(
          "the key of the vault is 32 bytes in base64, or a passphrase of at least "
              + PASSPHRASE_MIN
              + " characters");
    }
    return new Passphrase(key, vaultSources.iterations());
  }

  private static Optional<SecretKey> bytes(String base64) {
    try {
      var bytes = Base64.getDecoder().decode(base64);
      return bytes.length == BYTES
          ? Optional.of(new SecretKeySpec(bytes, "AES"))
          : Optional.empty();
    } catch (IllegalArgumentException notBase64) {
      return Optional.empty();
    }
  }

  /// A key of 32 bytes.
  record RawKey(SecretKey key) implements VaultKey {
    @Override
    public SecretKey forExistingVault(byte[] salt) {
      return key;
    }
  }

  /// A key that is derived from a passphrase.
  record Passphrase(String words, int iterations) implements VaultKey {
    @Override
    public SecretKey forExistingVault(byte[] salt) {
      var spec = new PBEKeySpec(words.toCharArray(), salt, iterations, BYTES * 8);
      try {
        var derived =
            SecretKeyFactory.getInstance("PBKDF2WithHmacSHA256").generateSecret(spec).getEncoded();
        return new SecretKeySpec(derived, "AES");
      } catch (GeneralSecurityException impossible) {
        throw new IllegalStateException("this JVM has no PBKDF2", impossible);
      } finally {
        spec.clearPassword();
      }
    }

    @Override
    public String toString() {
      return "a passphrase";
    }
  }

  /// A key in a file that only its owner may read. The file is created on first use.
  record KeyFile(Path folder, SecureRandom random) implements VaultKey {

    private Path file() {
      return folder.resolve(FILE);
    }

    boolean exists() {
      return Files.exists(file());
    }

    @Override
    public SecretKey forExistingVault(byte[] salt) {
      var file = file();
      try {
        if (!Files.exists(file)) {
          throw new Rejection.Unavailable(
              "the key of the vault is missing: set PARLEY_VAULT_KEY, or restore "
                  + file
                  + ", or delete vault.bin and let all users sign in again");
        }
        checkPrivate(file);
        return bytes(Files.readString(file).strip())
            .orElseThrow(() -> new Rejection.Unavailable(file + " is not a valid key"));
      } catch (IOException failed) {
        throw new Rejection.Unavailable("the key of the vault cannot be read: " + file);
      }
    }

    @Override
    public SecretKey forNewVault(byte[] salt) {
      if (!exists()) {
        var bytes = new byte[BYTES];
        random.nextBytes(bytes);
        var text = Base64.getEncoder().encodeToString(bytes) + "\n";
        Arrays.fill(bytes, (byte) 0);
        try {
          PrivateFileWriter.write(folder, FILE, text.getBytes(StandardCharsets.US_ASCII));
        } catch (IOException failed) {
          throw new Rejection.Unavailable("the key of the vault cannot be written: " + file());
        }
      }
      return forExistingVault(salt);
    }

    private static void checkPrivate(Path file) throws IOException {
      var view = Files.getFileAttributeView(file, PosixFileAttributeView.class);
      var allowed = EnumSet.of(PosixFilePermission.OWNER_READ, PosixFilePermission.OWNER_WRITE);
      if (view != null && !allowed.containsAll(view.readAttributes().permissions())) {
        throw new Rejection.Unavailable(
            file + " holds the key of the vault and others can read it; run chmod 600 " + file);
      }
    }
  }
}
