package dev.parley.encryption;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.encryption.ContentCipher.UndecryptableException;
import dev.parley.encryption.ContentCipher.ValuePlace;
import dev.parley.log.OwnerOnlyFiles;
import dev.parley.protocol.Rejection;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Master keys in a file and behind a command, and the cipher of values.
final class MasterKeyTest {

  /// Stands for a key management system: it adds three bytes.
  private static final String SCRIPT =
      """
      case "$1" in
        wrap) printf 'kmsx'; cat ;;
        unwrap) cut -c 5- ;;
      esac
      """;

  @TempDir Path folder;

  private MasterKeyFile file(String... lines) throws IOException {
    var file = folder.resolve("master.key");
    OwnerOnlyFiles.createFile(file);
    Files.write(file, List.of(lines));
    return new MasterKeyFile(file);
  }

  private static MasterKeyCommand script(String text) {
    return new MasterKeyCommand(List.of("sh", "-c", text, "kms"));
  }

  private static byte[] key() {
    return AesGcm.randomKey();
  }

  @Test
  void a_file_wraps_with_its_first_key_and_unwraps_with_all() throws Exception {
    var key = key();
    var old = MasterKeyFile.newLine();
    var byOld = file(old).wrap(key);
    var both = file("# keys", "", MasterKeyFile.newLine(), old);
    assertThat(both.unwrap(byOld)).isEqualTo(key);
    var byNew = both.wrap(key);

    var without = file(MasterKeyFile.newLine());
    assertThatThrownBy(() -> without.unwrap(byNew))
        .isInstanceOf(Rejection.Unavailable.class)
        .hasMessageContaining("does not fit");
  }

  @Test
  void a_file_that_cannot_be_used_is_named_without_its_content() throws Exception {
    assertThatThrownBy(() -> new MasterKeyFile(folder.resolve("none")).wrap(key()))
        .hasMessageContaining("is missing: " + folder.resolve("none"));
    var empty = file("# nothing");
    assertThatThrownBy(() -> empty.wrap(key())).hasMessageContaining("contains no master key");
    var wrong = file("c2hvcnQ=");
    assertThatThrownBy(() -> wrong.wrap(key()))
        .hasMessageContaining("32 bytes in base64")
        .hasMessageNotContaining("c2hvcnQ");
    var open = file(MasterKeyFile.newLine());
    Files.setPosixFilePermissions(open.file(), PosixFilePermissions.fromString("rw-r--r--"));
    assertThatThrownBy(() -> open.wrap(key())).hasMessageContaining("run chmod 600");
  }

  @Test
  void a_command_wraps_and_unwraps() {
    var command = script(SCRIPT);
    var key = key();
    var wrapped = command.wrap(key);
    assertThat(wrapped).isNotEqualTo(key);
    assertThat(command.unwrap(wrapped)).isEqualTo(key);
  }

  @Test
  void a_command_that_fails_is_reported_with_its_first_line() {
    assertThatThrownBy(() -> script("echo access denied >&2; exit 3").unwrap(key()))
        .isInstanceOf(Rejection.Unavailable.class)
        .hasMessageContaining("(sh … unwrap) failed: access denied");
    assertThatThrownBy(() -> script("cat > /dev/null").unwrap(key()))
        .hasMessageContaining("returned 0 bytes instead of 32");
    assertThatThrownBy(() -> new MasterKeyCommand(List.of("/no/such/program")).wrap(key()))
        .hasMessageContaining("cannot be started");
  }

  @Test
  void a_value_is_decrypted_only_unchanged_and_at_its_place() {
    var cipher = DataKey.random();
    var place = new ValuePlace("column", 1, 2);
    var plain = "text".getBytes(StandardCharsets.UTF_8);
    var stored = cipher.encrypt(plain, place);
    assertThat(cipher.decrypt(stored, place)).isEqualTo(plain);

    for (var other :
        List.of(
            new ValuePlace("column", 2, 1),
            new ValuePlace("column", 1, 3),
            new ValuePlace("other", 1, 2))) {
      assertThatThrownBy(() -> cipher.decrypt(stored, other))
          .isInstanceOf(UndecryptableException.class);
    }
    for (var bit = 0; bit < stored.length * Byte.SIZE; bit++) {
      var changed = stored.clone();
      changed[bit / Byte.SIZE] ^= (byte) (1 << bit % Byte.SIZE);
      assertThatThrownBy(() -> cipher.decrypt(changed, place))
          .isInstanceOf(UndecryptableException.class);
    }
    for (var length = 0; length < stored.length; length++) {
      var cut = Arrays.copyOf(stored, length);
      assertThatThrownBy(() -> cipher.decrypt(cut, place))
          .isInstanceOf(UndecryptableException.class);
    }
    assertThatThrownBy(() -> DataKey.random().decrypt(stored, place))
        .isInstanceOf(UndecryptableException.class);
  }

  @Test
  void equal_values_have_equal_fingerprints_only_for_one_key_and_purpose() {
    var cipher = DataKey.random();
    var all = new ArrayList<String>();
    all.add(cipher.fingerprint("key", "value"));
    all.add(cipher.fingerprint("key", "other"));
    all.add(cipher.fingerprint("body", "value"));
    all.add(cipher.fingerprint("keyv", "alue"));
    all.add(DataKey.random().fingerprint("key", "value"));
    assertThat(new HashSet<>(all)).hasSameSizeAs(all);
    assertThat(cipher.fingerprint("key", "value")).isEqualTo(all.getFirst());
    // A value is never encrypted to the same bytes twice.
    var place = new ValuePlace("column", 1, 1);
    assertThat(cipher.encrypt(new byte[8], place)).isNotEqualTo(cipher.encrypt(new byte[8], place));
  }

  @Test
  void a_wrapped_key_belongs_to_one_context() {
    var ring = new KeyRing();
    ring.update(Map.of(1L, key()), wrapped -> wrapped);
    var wrapped = ring.wrap(DataKey.random(), 5, "context");
    assertThat(KeyRing.wrappingKeyOf(wrapped)).isEqualTo(1);
    assertThat(ring.unwrap(wrapped, 5, "context")).isNotNull();
    assertThatThrownBy(() -> ring.unwrap(wrapped, 6, "context"))
        .isInstanceOf(UndecryptableException.class);
    assertThatThrownBy(() -> ring.unwrap(wrapped, 5, "other"))
        .isInstanceOf(UndecryptableException.class);
    ring.update(Map.of(2L, key()), other -> other);
    assertThatThrownBy(() -> ring.unwrap(wrapped, 5, "context"))
        .hasMessageContaining("wrapping key was destroyed");
  }
}
