package dev.parley.identity;

import dev.parley.identity.IdentityStore.RecordKind;
import java.util.Collection;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;

/// The records of one kind: all of them in memory, and each change in the store first.
///
/// Any thread reads. Only the thread of the store changes.
final class IdentityTable<T> {

  private final IdentityStore store;
  private final RecordKind kind;
  private final Function<T, String> id;
  private final Map<String, T> records = new ConcurrentHashMap<>();

  IdentityTable(IdentityStore store, RecordKind kind, Class<T> type, Function<T, String> id) {
    this.store = store;
    this.kind = kind;
    this.id = id;
    store.readAll(kind, type).forEach(data -> records.put(id.apply(data), data));
  }

  Optional<T> find(String wanted) {
    return Optional.ofNullable(records.get(wanted));
  }

  Collection<T> all() {
    return records.values();
  }

  int size() {
    return records.size();
  }

  void put(T data) {
    store.put(kind, id.apply(data), data);
    records.put(id.apply(data), data);
  }

  /// Replaces a record in memory only.
  void replaceInMemory(T data) {
    records.replace(id.apply(data), data);
  }

  void remove(String unwanted) {
    if (records.containsKey(unwanted)) {
      store.remove(kind, unwanted);
      records.remove(unwanted);
    }
  }
}
