package dev.parley.log;

import dev.parley.log.LiveContext.KeyName;
import dev.parley.log.LiveContext.StoredKey;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// The idempotency keys of a context that are in memory. Used under the context's lock.
///
/// Keys that are being written are always in memory. Of the durable keys, only the latest are; the
/// others are in the store only. A caller that looks up a key in the store calls [#beginLookup]
/// before and [#endLookup] after, and the key stays in memory in between. A key that is found
/// neither in the store nor here was therefore never used.
final class ContextKeys {

  private final KeyMemory memory;
  private final Map<KeyName, StoredKey> written = new HashMap<>();
  private final LinkedHashMap<KeyName, StoredKey> durable = new LinkedHashMap<>();
  private final Map<KeyName, Integer> lookups = new HashMap<>();
  private boolean all = true;

  ContextKeys(KeyMemory memory) {
    this.memory = memory;
  }

  /// The earlier use of a key, if it is in memory.
  @Nullable StoredKey find(KeyName name) {
    var found = written.get(name);
    return found == null ? durable.get(name) : found;
  }

  /// Begins a look-up in the store. False if none is needed because the key is known here.
  boolean beginLookup(KeyName name) {
    if (all || find(name) != null) {
      return false;
    }
    lookups.merge(name, 1, Integer::sum);
    return true;
  }

  void endLookup(KeyName name) {
    lookups.computeIfPresent(name, (_, count) -> count == 1 ? null : count - 1);
    shrink();
  }

  /// Adds a key that is being written.
  void write(KeyName name, StoredKey key) {
    written.put(name, key);
  }

  /// Marks a key as durable.
  void written(KeyName name) {
    var key = written.remove(name);
    if (key != null) {
      remember(name, key);
    }
  }

  /// Caches a key that is in the store, if there is room.
  void remember(KeyName name, StoredKey key) {
    if (durable.put(name, key) == null) {
      memory.count(1);
    }
    shrink();
  }

  /// Caches all keys that are in the store, unless there are too many.
  void load(Map<KeyName, StoredKey> stored) {
    if (stored.size() > memory.contextMax() || memory.scarce()) {
      all = stored.isEmpty();
    } else {
      stored.forEach(this::remember);
    }
  }

  /// Drops the keys whose write failed.
  void rollBack() {
    written.clear();
  }

  /// Removes durable keys from memory; they stay in the store.
  void release() {
    shrinkTo(0);
  }

  /// Removes all keys, because the context was deleted.
  void clear() {
    written.clear();
    memory.count(-durable.size());
    durable.clear();
  }

  private void shrink() {
    shrinkTo(memory.contextMax());
  }

  private void shrinkTo(int max) {
    var oldest = durable.keySet().iterator();
    while ((durable.size() > max || memory.full()) && oldest.hasNext()) {
      if (!lookups.containsKey(oldest.next())) {
        oldest.remove();
        memory.count(-1);
        all = false;
      }
    }
  }
}
