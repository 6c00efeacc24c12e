package dev.parley.vault;

import dev.parley.protocol.Json;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/// The contents of a vault. [#name] builds the keys of the maps.
record Contents(
    Map<String, Credential> credentials,
    Map<String, Pending> pending,
    Map<String, Credential.Client> clients) {

  static final Contents EMPTY = new Contents(Map.of(), Map.of(), Map.of());

  Contents {
    credentials = Map.copyOf(credentials);
    pending = Map.copyOf(pending);
    clients = Map.copyOf(clients);
  }

  /// Joins several parts to one unambiguous name.
  static String name(Object... parts) {
    return Json.mapper().writeValueAsString(List.of(parts).stream().map(String::valueOf).toList());
  }

  Contents withCredentials(Consumer<Map<String, Credential>> change) {
    return new Contents(changed(credentials, change), pending, clients);
  }

  Contents withPending(Consumer<Map<String, Pending>> change) {
    return new Contents(credentials, changed(pending, change), clients);
  }

  Contents withClients(Consumer<Map<String, Credential.Client>> change) {
    return new Contents(credentials, pending, changed(clients, change));
  }

  /// Returns the contents without expired sign-in requests.
  Contents at(Instant now) {
    return new Contents(
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
