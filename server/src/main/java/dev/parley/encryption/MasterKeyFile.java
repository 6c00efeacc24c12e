package dev.parley.encryption;

import dev.parley.encryption.ContentCipher.UndecryptableException;
import dev.parley.protocol.Rejection;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFilePermission;
import java.util.ArrayList;
import java.util.Base64;
import java.util.EnumSet;
import java.util.List;
import javax.crypto.spec.SecretKeySpec;

/// A master key in a file: one version in each line, 32 bytes in base64, the current one first.
/// Empty lines and lines that begin with `#` are ignored.
///
/// The file is read for each use, so that a new version needs no restart.
public record MasterKeyFile(Path file) implements MasterKey {

  private static final byte[] PURPOSE = "wrapping key".getBytes(StandardCharsets.US_ASCII);

  @Override
  public byte[] wrap(byte[] key) {
    return AesGcm.encrypt(versions().getFirst(), key, PURPOSE);
  }

  @Override
  public byte[] unwrap(byte[] wrapped) {
    for (var version : versions()) {
      try {
        return AesGcm.decrypt(version, wrapped, PURPOSE);
      } catch (UndecryptableException other) {
        // It was wrapped with another version.
      }
    }
    throw new Rejection.Unavailable(
        "the master key in "
            + file
            + " does not fit the stored keys; restore the file that was in use, or add that key"
            + " as a further line");
  }

  /// Returns a new version, as a line of the file.
  public static String newLine() {
    return Base64.getEncoder().encodeToString(AesGcm.randomKey());
  }

  private List<SecretKeySpec> versions() {
    var found = new ArrayList<SecretKeySpec>();
    for (var line : lines()) {
      if (!line.isBlank() && !line.startsWith("#")) {
        found.add(version(line.strip()));
      }
    }
    if (found.isEmpty()) {
      throw new Rejection.Unavailable(file + " contains no master key");
    }
    return found;
  }

  private List<String> lines() {
    try {
      checkPrivate();
      return Files.readAllLines(file, StandardCharsets.US_ASCII);
    } catch (NoSuchFileException missing) {
      throw new Rejection.Unavailable(
          "the file with the master key is missing: "
              + file
              + "; restore it, because stored conversations cannot be read without it");
    } catch (IOException unreadable) {
      throw new Rejection.Unavailable(
          "the master key in " + file + " cannot be read: " + unreadable.getMessage());
    }
  }

  private void checkPrivate() throws IOException {
    var view = Files.getFileAttributeView(file, PosixFileAttributeView.class);
    var others = EnumSet.of(PosixFilePermission.OTHERS_READ, PosixFilePermission.OTHERS_WRITE);
    if (view != null && view.readAttributes().permissions().stream().anyMatch(others::contains)) {
      throw new Rejection.Unavailable(
          "all users can read the master key in " + file + "; run chmod 600 " + file);
    }
  }

  private SecretKeySpec version(String line) {
    try {
      var bytes = Base64.getDecoder().decode(line);
      if (bytes.length == AesGcm.KEY_BYTES) {
        return new SecretKeySpec(bytes, "AES");
      }
    } catch (IllegalArgumentException notBase64) {
      // Reported below, without the line.
    }
    throw new Rejection.Unavailable(
        "a line of " + file + " is not a key: 32 bytes in base64, as from openssl rand -base64 32");
  }
}
