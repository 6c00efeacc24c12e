package dev.parley.auth;

import dev.parley.auth.Credential.CredentialKind;
import dev.parley.protocol.Json;
import dev.parley.protocol.Rejection;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// Stores credentials by owner, in memory or also in an encrypted file.
///
/// Safe for many threads. Reading takes no lock. The lock for changes is held while the file is
/// written: changes are rare and small, and must be written in order.
public final class Vault {

  private static final int CREDENTIALS_MAX = 10_000;
  private static final int PENDING_MAX = 1_000;
  private static final int CLIENTS_MAX = 1_000;

  /// The clock, the source of randomness, and how many times a passphrase is hashed.
  public record VaultSources(InstantSource clock, SecureRandom random, int iterations) {
    public VaultSources(InstantSource clock, SecureRandom random) {
      this(clock, random, VaultKey.ITERATIONS);
    }
  }

  private final VaultSources vaultSources;
  private final @Nullable VaultFile file;
  private volatile VaultContents vaultContents;

  private Vault(VaultSources vaultSources, @Nullable VaultFile file, VaultContents vaultContents) {
    this.vaultSources = vaultSources;
    this.file = file;
    this.vaultContents = vaultContents;
  }

  /// Returns a vault that is lost when the process ends.
  public static Vault inMemory(VaultSources vaultSources) {
    return new Vault(vaultSources, null, VaultContents.EMPTY);
  }

  /// Opens the vault in this folder. The vault file, and the key file if `key` is null, are created
  /// on first use.
  ///
  /// @param key 32 bytes in base64, or a passphrase
  /// @throws Rejection if the vault cannot be opened with this key
  public static Vault in(Path folder, @Nullable String key, VaultSources vaultSources) {
    return in(
        new VaultFile.FolderStorage(folder), VaultKey.of(folder, key, vaultSources), vaultSources);
  }

  /// Opens the vault in this storage, which several servers share.
  ///
  /// @param key 32 bytes in base64, or a passphrase
  /// @throws Rejection if the vault cannot be opened with this key
  public static Vault in(VaultStorage storage, String key, VaultSources vaultSources) {
    return in(storage, VaultKey.of(key, vaultSources), vaultSources);
  }

  private static Vault in(VaultStorage storage, VaultKey key, VaultSources vaultSources) {
    var file = new VaultFile(storage, key, vaultSources.random());
    var vaultContents =
        file.read().map(bytes -> Json.read(bytes, VaultContents.class)).orElse(VaultContents.EMPTY);
    return new Vault(vaultSources, file, vaultContents);
  }

  /// Checks that the vault in this folder can be opened with this key. Changes nothing.
  ///
  /// @throws Rejection if it cannot
  public static void check(Path folder, @Nullable String key, VaultSources vaultSources) {
    var vault = in(folder, key, vaultSources);
    var keyFile = new VaultKey.KeyFile(folder, vaultSources.random());
    // A vault that does not exist yet is created with an existing key file.
    if (key == null && vault.contents().equals(VaultContents.EMPTY) && keyFile.exists()) {
      keyFile.forExistingVault(new byte[0]);
    }
  }

  /// Returns the credential of this owner for `provider`, valid or not.
  public Optional<Credential> find(CredentialKind credentialKind, String owner, String provider) {
    return Optional.ofNullable(
        vaultContents.credentials().get(name(credentialKind, owner, provider)));
  }

  /// Stores a credential durably, and replaces an existing one.
  public void put(
      CredentialKind credentialKind, String owner, String provider, Credential credential) {
    change(
        now ->
            now.withCredentials(all -> all.put(name(credentialKind, owner, provider), credential)));
  }

  /// Removes a credential.
  public void remove(CredentialKind credentialKind, String owner, String provider) {
    change(now -> now.withCredentials(all -> all.remove(name(credentialKind, owner, provider))));
  }

  VaultSources sources() {
    return vaultSources;
  }

  Optional<PendingSignIn> pending(SignInId signInId) {
    return Optional.ofNullable(vaultContents.pending().get(VaultContents.name(signInId)))
        .filter(pendingSignIn -> pendingSignIn.expiresAt().isAfter(vaultSources.clock().instant()));
  }

  VaultContents contents() {
    return vaultContents;
  }

  void put(PendingSignIn pendingSignIn) {
    change(
        now ->
            now.withPending(
                all -> all.put(VaultContents.name(pendingSignIn.place()), pendingSignIn)));
  }

  void remove(SignInId signInId) {
    change(now -> now.withPending(all -> all.remove(VaultContents.name(signInId))));
  }

  synchronized void change(UnaryOperator<VaultContents> change) {
    var before = vaultContents;
    var changed = change.apply(before.withoutExpired(vaultSources.clock().instant()));
    if (changed.equals(before)) {
      return;
    }
    check(changed);
    if (file != null) {
      file.write(Json.bytes(changed));
    }
    vaultContents = changed;
  }

  private static void check(VaultContents changed) {
    if (changed.credentials().size() > CREDENTIALS_MAX
        || changed.pending().size() > PENDING_MAX
        || changed.clients().size() > CLIENTS_MAX) {
      throw new Rejection.Busy("vault-full", "the vault is full");
    }
  }

  /// Host names are case-insensitive; other names are not.
  private static String name(CredentialKind credentialKind, String owner, String provider) {
    var place = credentialKind == CredentialKind.KEY ? provider.toLowerCase(Locale.ROOT) : provider;
    return VaultContents.name(credentialKind, owner, place);
  }

  /// The contents of a vault. [#name] builds the keys of the maps.
  record VaultContents(
      Map<String, Credential> credentials,
      Map<String, PendingSignIn> pending,
      Map<String, Credential.RegisteredClient> clients) {

    static final VaultContents EMPTY = new VaultContents(Map.of(), Map.of(), Map.of());

    VaultContents {
      credentials = Map.copyOf(credentials);
      pending = Map.copyOf(pending);
      clients = Map.copyOf(clients);
    }

    /// Joins several parts to one unambiguous name.
    static String name(Object... parts) {
      return Json.mapper()
          .writeValueAsString(List.of(parts).stream().map(String::valueOf).toList());
    }

    VaultContents withCredentials(Consumer<Map<String, Credential>> change) {
      return new VaultContents(changed(credentials, change), pending, clients);
    }

    VaultContents withPending(Consumer<Map<String, PendingSignIn>> change) {
      return new VaultContents(credentials, changed(pending, change), clients);
    }

    VaultContents withClients(Consumer<Map<String, Credential.RegisteredClient>> change) {
      return new VaultContents(credentials, pending, changed(clients, change));
    }

    /// Returns the contents without expired sign-in requests.
    VaultContents withoutExpired(Instant now) {
      return new VaultContents(
          credentials,
          pending.entrySet().stream()
              .filter(entry -> entry.getValue().expiresAt().isAfter(now))
              .collect(Collectors.toUnmodifiableMap(Map.Entry::getKey, Map.Entry::getValue)),
          clients);
    }

    private static <T> Map<String, T> changed(Map<String, T> map, Consumer<Map<String, T>> change) {
      var changed = new HashMap<>(map);
      change.accept(changed);
      return changed;
    }

    /// Never shows a secret.
    @Override
    public String toString() {
      return credentials.size() + " credentials";
    }
  }
}
