package dev.parley.auth;

import dev.parley.protocol.Json;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.Collectors;

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
    return Json.mapper().writeValueAsString(List.of(parts).stream().map(String::valueOf).toList());
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
