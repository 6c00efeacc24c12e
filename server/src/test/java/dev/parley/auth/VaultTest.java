package dev.parley.auth;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.auth.Credential.CredentialKind;
import dev.parley.auth.SignIns.SignInProof;
import dev.parley.protocol.AuthId;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Rejection;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Base64;
import java.util.concurrent.Executors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.NullSource;
import org.junit.jupiter.params.provider.ValueSource;

class VaultTest {

  private static final String SECRET = "canary-4711";
  private static final String RAW = Base64.getEncoder().encodeToString(new byte[32]);

  /// With few iterations, because the usual number takes seconds.
  private static final Vault.VaultSources SOURCES =
      new Vault.VaultSources(InstantSource.system(), new SecureRandom(), 1_000);

  @TempDir Path folder;

  private Vault open(@Nullable String key) {
    return Vault.in(folder, key, SOURCES);
  }

  @ParameterizedTest
  @NullSource
  @ValueSource(
      strings = {"a passphrase of some length", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="})
  void what_is_put_in_is_there_after_a_restart_and_nowhere_in_clear(@Nullable String key)
      throws IOException {
    open(key).put(CredentialKind.KEY, "ann", "api.example.org", Credential.of(SECRET));

    var again = open(key);

    assertThat(again.find(CredentialKind.KEY, "ann", "API.example.org"))
        .contains(Credential.of(SECRET));
    assertThat(again.find(CredentialKind.KEY, "bob", "api.example.org")).isEmpty();
    assertThat(again.find(CredentialKind.OAUTH, "ann", "api.example.org")).isEmpty();
    try (var files = Files.list(folder)) {
      for (var file : files.toList()) {
        assertThat(new String(Files.readAllBytes(file), StandardCharsets.ISO_8859_1))
            .doesNotContain(SECRET)
            .doesNotContain("example.org");
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
            .isEqualTo("rw-------");
      }
    }
  }

  @Test
  void a_passphrase_is_derived_with_the_recommended_iterations() {
    var vaultSources = new Vault.VaultSources(InstantSource.system(), new SecureRandom());

    // Another number does not open vaults that exist.
    assertThat(vaultSources.iterations()).isEqualTo(600_000);
  }

  @Test
  void nothing_is_written_before_there_is_something_to_keep() {
    assertThat(open(null).find(CredentialKind.KEY, "ann", "x")).isEmpty();

    assertThat(folder).isEmptyDirectory();
  }

  @Test
  void another_key_does_not_open_it_and_a_short_passphrase_is_refused() {
    open("a passphrase of some length").put(CredentialKind.KEY, "ann", "x", Credential.of(SECRET));

    assertThatThrownBy(() -> open("a passphrase of some width"))
        .isInstanceOf(Rejection.Unavailable.class)
        .hasMessageContaining("PARLEY_VAULT_KEY");
    assertThatThrownBy(() -> open(RAW)).isInstanceOf(Rejection.Unavailable.class);
    assertThatThrownBy(() -> open(null))
        .isInstanceOf(Rejection.Unavailable.class)
        .hasMessageContaining("vault.key");
    assertThatThrownBy(() -> open("short")).isInstanceOf(Rejection.Invalid.class);
  }

  @Test
  void a_vault_that_was_changed_or_cut_is_not_opened() throws IOException {
    open(RAW).put(CredentialKind.KEY, "ann", "x", Credential.of(SECRET));
    var file = folder.resolve("vault.bin");
    var bytes = Files.readAllBytes(file);

    for (var i = 0; i < bytes.length; i++) {
      var changed = bytes.clone();
      changed[i] ^= 1;
      Files.write(file, changed);
      assertThatThrownBy(() -> open(RAW)).isInstanceOf(Rejection.Unavailable.class);
    }
    Files.write(file, java.util.Arrays.copyOf(bytes, bytes.length / 2));
    assertThatThrownBy(() -> open(RAW)).isInstanceOf(Rejection.Unavailable.class);
  }

  @Test
  void a_key_file_that_others_may_read_is_refused() throws IOException {
    open(null).put(CredentialKind.KEY, "ann", "x", Credential.of(SECRET));
    Files.setPosixFilePermissions(
        folder.resolve("vault.key"), PosixFilePermissions.fromString("rw-r--r--"));

    assertThatThrownBy(() -> open(null))
        .isInstanceOf(Rejection.Unavailable.class)
        .hasMessageContaining("chmod 600");
  }

  @Test
  void many_writers_lose_nothing() throws Exception {
    var vault = open(null);
    try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      for (var i = 0; i < 50; i++) {
        var owner = "owner" + i;
        threads.execute(
            () -> vault.put(CredentialKind.KEY, owner, "x", Credential.of(SECRET + owner)));
      }
    }

    var again = open(null);
    for (var i = 0; i < 50; i++) {
      assertThat(again.find(CredentialKind.KEY, "owner" + i, "x"))
          .contains(Credential.of(SECRET + "owner" + i));
    }
  }

  @Test
  void nothing_shows_a_secret_when_it_is_printed() {
    var registeredClient = new Credential.RegisteredClient("id", SECRET, true);
    var tokenRenewal =
        new Credential.TokenRenewal(
            SECRET, "https://x.example", registeredClient, null, java.util.List.of());
    var signInId = new SignInId(new ContextId("c"), new AuthId("a"));
    var oAuthFlowState =
        new PendingSignIn.OAuthFlowState(
            SECRET,
            SECRET,
            "i",
            "https://x.example",
            registeredClient,
            "r",
            null,
            java.util.List.of());
    var pendingSignIn =
        new PendingSignIn(signInId, "ann", "x", Instant.MAX, SECRET, oAuthFlowState);

    for (var shown :
        new Object[] {
          registeredClient,
          tokenRenewal,
          new Credential(SECRET, null, tokenRenewal, null),
          oAuthFlowState,
          pendingSignIn,
          new SignInProof.PlainCredential(SECRET),
          new SignInProof.EncryptedCredential(SECRET),
          new OAuthFlow.OAuthCallback(SECRET, SECRET, "", null),
          VaultKey.of(folder, SECRET + " and more", SOURCES)
        }) {
      assertThat(shown.toString()).doesNotContain(SECRET);
    }
  }
}
