package dev.parley.vault;

import dev.parley.protocol.Json;
import dev.parley.protocol.Rejection;
import dev.parley.vault.Credential.Kind;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.InstantSource;
import java.util.Locale;
import java.util.Optional;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/// Stores credentials by owner, in memory or also in an encrypted file.
///
/// Safe for many threads. Reading takes no lock. The lock for changes is held while the file is
/// written: changes are rare and small, and must be written in order.
public final class Vault {

  private static final int CREDENTIALS_MAX = 10_000;
  private static final int PENDING_MAX = 1_000;
  private static final int CLIENTS_MAX = 1_000;

  /// The clock, and the source of randomness.
  public record Sources(InstantSource clock, SecureRandom random) {}

  private final Sources sources;
  private final @Nullable VaultFile file;
  private volatile Contents contents;

  private Vault(Sources sources, @Nullable VaultFile file, Contents contents) {
    this.sources = sources;
    this.file = file;
    this.contents = contents;
  }

  /// Returns a vault that is lost when the process ends.
  public static Vault inMemory(Sources sources) {
    return new Vault(sources, null, Contents.EMPTY);
  }

  /// Opens the vault in this folder. The vault file, and the key file if `key` is null, are created
  /// on first use.
  ///
  /// @param key 32 bytes in base64, or a passphrase
  /// @throws Rejection if the vault cannot be opened with this key
  public static Vault in(Path folder, @Nullable String key, Sources sources) {
    var file = new VaultFile(folder, VaultKey.of(folder, key, sources.random()), sources.random());
    var contents =
        file.read().map(bytes -> Json.read(bytes, Contents.class)).orElse(Contents.EMPTY);
    return new Vault(sources, file, contents);
  }

  /// Returns the credential of this owner for `provider`, valid or not.
  public Optional<Credential> find(Kind kind, String owner, String provider) {
    return Optional.ofNullable(contents.credentials().get(name(kind, owner, provider)));
  }

  /// Stores a credential durably, and replaces an existing one.
  public void put(Kind kind, String owner, String provider, Credential credential) {
    change(now -> now.withCredentials(all -> all.put(name(kind, owner, provider), credential)));
  }

  /// Removes a credential.
  public void remove(Kind kind, String owner, String provider) {
    change(now -> now.withCredentials(all -> all.remove(name(kind, owner, provider))));
  }

  Sources sources() {
    return sources;
  }

  Optional<Pending> pending(Place place) {
    return Optional.ofNullable(contents.pending().get(Contents.name(place)))
        .filter(pending -> pending.expiresAt().isAfter(sources.clock().instant()));
  }

  Contents contents() {
    return contents;
  }

  void put(Pending pending) {
    change(now -> now.withPending(all -> all.put(Contents.name(pending.place()), pending)));
  }

  void remove(Place place) {
    change(now -> now.withPending(all -> all.remove(Contents.name(place))));
  }

  synchronized void change(UnaryOperator<Contents> change) {
    var before = contents;
    var changed = change.apply(before.at(sources.clock().instant()));
    if (changed.equals(before)) {
      return;
    }
    check(changed);
    if (file != null) {
      file.write(Json.bytes(changed));
    }
    contents = changed;
  }

  private static void check(Contents changed) {
    if (changed.credentials().size() > CREDENTIALS_MAX
        || changed.pending().size() > PENDING_MAX
        || changed.clients().size() > CLIENTS_MAX) {
      throw new Rejection.Busy("vault-full", "the vault is full");
    }
  }

  /// Host names are case-insensitive; other names are not.
  private static String name(Kind kind, String owner, String provider) {
    var place = kind == Kind.KEY ? provider.toLowerCase(Locale.ROOT) : provider;
    return Contents.name(kind, owner, place);
  }
}
