package dev.parley.auth;

import dev.parley.protocol.Rejection;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.Optional;
import java.util.Set;
import javax.crypto.AEADBadTagException;
import javax.crypto.Cipher;
import javax.crypto.SecretKey;
import javax.crypto.spec.GCMParameterSpec;
import org.jspecify.annotations.Nullable;

/// The encrypted content of a vault: `PARLEYV1`, a salt, a nonce, and AES-256-GCM output that also
/// authenticates these.
///
/// For one thread at a time.
final class VaultFile {

  static final String NAME = "vault.bin";

  private static final System.Logger LOG = System.getLogger(VaultFile.class.getName());
  private static final byte[] MAGIC = "PARLEYV1".getBytes(StandardCharsets.US_ASCII);
  private static final int SALT = 16;
  private static final int NONCE = 12;
  private static final int TAG_BITS = 128;
  private static final int HEAD = MAGIC.length + SALT + NONCE;
  private static final int BYTES_MAX = 64 << 20;

  private final VaultStorage storage;
  private final VaultKey source;
  private final SecureRandom random;
  private byte @Nullable [] salt;
  private @Nullable SecretKey key;

  VaultFile(VaultStorage storage, VaultKey source, SecureRandom random) {
    this.storage = storage;
    this.source = source;
    this.random = random;
  }

  /// Returns the decrypted content, or empty if there is none.
  ///
  /// @throws Rejection.Unavailable if it cannot be read or decrypted
  Optional<byte[]> read() {
    try {
      return storage.read(BYTES_MAX).map(this::decrypt);
    } catch (IOException failed) {
      throw new Rejection.Unavailable(storage + " cannot be read");
    }
  }

  /// Replaces the content durably.
  ///
  /// @throws Rejection.Unavailable if that fails; the content is then unchanged
  void write(byte[] plain) {
    try {
      storage.write(encrypt(plain));
    } catch (IOException failed) {
      LOG.log(Level.ERROR, storage + " cannot be written", failed);
      throw new Rejection.Unavailable("the vault cannot be written");
    } finally {
      Arrays.fill(plain, (byte) 0);
    }
  }

  private byte[] decrypt(byte[] bytes) {
    if (bytes.length < HEAD || !Arrays.equals(Arrays.copyOf(bytes, MAGIC.length), MAGIC)) {
      throw new Rejection.Unavailable(storage + " is not a vault, or has another version");
    }
    var found = Arrays.copyOfRange(bytes, MAGIC.length, MAGIC.length + SALT);
    var opened = source.forExistingVault(found);
    try {
      var cipher = cipher(Cipher.DECRYPT_MODE, opened, bytes);
      var plain = cipher.doFinal(bytes, HEAD, bytes.length - HEAD);
      salt = found;
      key = opened;
      return plain;
    } catch (AEADBadTagException wrong) {
      throw new Rejection.Unavailable(
          storage
              + " cannot be opened: the key is wrong, or it is damaged. Set the right key in"
              + " PARLEY_VAULT_KEY, or delete it and let all users sign in again");
    } catch (GeneralSecurityException impossible) {
      throw new IllegalStateException("this JVM has no AES-GCM", impossible);
    }
  }

  private byte[] encrypt(byte[] plain) {
    if (salt == null || key == null) {
      var fresh = new byte[SALT];
      random.nextBytes(fresh);
      key = source.forNewVault(fresh);
      salt = fresh;
    }
    var nonce = new byte[NONCE];
    random.nextBytes(nonce);
    var head = ByteBuffer.allocate(HEAD).put(MAGIC).put(salt).put(nonce).array();
    try {
      var sealed = cipher(Cipher.ENCRYPT_MODE, key, head).doFinal(plain);
      return ByteBuffer.allocate(HEAD + sealed.length).put(head).put(sealed).array();
    } catch (GeneralSecurityException impossible) {
      throw new IllegalStateException("this JVM has no AES-GCM", impossible);
    }
  }

  /// Returns a cipher that also authenticates the header.
  private static Cipher cipher(int mode, SecretKey key, byte[] head)
      throws GeneralSecurityException {
    var cipher = Cipher.getInstance("AES/GCM/NoPadding");
    cipher.init(mode, key, new GCMParameterSpec(TAG_BITS, head, MAGIC.length + SALT, NONCE));
    cipher.updateAAD(head, 0, HEAD);
    return cipher;
  }

  /// The vault file in a folder.
  record FolderStorage(Path folder) implements VaultStorage {

    @Override
    public Optional<byte[]> read(int bytesMax) throws IOException {
      var file = folder.resolve(NAME);
      if (!Files.exists(file)) {
        return Optional.empty();
      }
      if (Files.size(file) > bytesMax) {
        throw new Rejection.Unavailable(file + " is too large to be a vault");
      }
      return Optional.of(Files.readAllBytes(file));
    }

    @Override
    public void write(byte[] content) throws IOException {
      PrivateFileWriter.write(folder, NAME, content);
    }

    @Override
    public String toString() {
      return folder.resolve(NAME).toString();
    }
  }

  /// Writes files atomically, and so that only their owner may read them.
  static final class PrivateFileWriter {

    private PrivateFileWriter() {}

    /// Replaces the content of the file. When this method returns, the new content survives a
    /// crash.
    static void write(Path folder, String name, byte[] bytes) throws IOException {
      var file = folder.resolve(name);
      var draft = folder.resolve(name + ".new");
      Files.deleteIfExists(draft);
      FileAttribute<?>[] mine =
          Files.getFileStore(folder).supportsFileAttributeView("posix")
              ? new FileAttribute<?>[] {
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"))
              }
              : new FileAttribute<?>[0];
      var options = Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
      try (var channel = FileChannel.open(draft, options, mine)) {
        for (var rest = ByteBuffer.wrap(bytes); rest.hasRemaining(); ) {
          channel.write(rest);
        }
        channel.force(true);
      }
      Files.move(draft, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
      sync(folder);
    }

    private static void sync(Path folder) {
      try (var channel = FileChannel.open(folder, StandardOpenOption.READ)) {
        channel.force(true);
      } catch (IOException unsupported) {
        // Some systems cannot open a folder. On the others, this makes the rename durable.
      }
    }
  }
}
