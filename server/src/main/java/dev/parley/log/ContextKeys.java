package dev.parley.log;

import dev.parley.log.LiveContext.KeyName;
import dev.parley.log.LiveContext.StoredKey;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// The idempotency keys of a context that are in memory. Used under the context's lock.
///
/// Keys that are being written are always here. Of those that are durable, the last few are, and the
/// others are in the store only. Whoever looks one up there says so before and after: meanwhile that key
/// does not leave memory. So a key that is found neither in the store nor here was never used.
final class ContextKeys {

  private final KeyMemory memory;
  private final Map<KeyName, StoredKey> written = new HashMap<>();
  private final LinkedHashMap<KeyName, StoredKey> durable = new LinkedHashMap<>();
  private final Map<KeyName, Integer> lookups = new HashMap<>();
  private boolean all = true;

  ContextKeys(KeyMemory memory) {
    this.memory = memory;
  }

  /// What a key was used for, if that is in memory.
  @Nullable StoredKey find(KeyName name) {
    var found = written.get(name);
    return found == null ? durable.get(name) : found;
  }

  /// Begins a look-up in the store, if the key may be there only. False if there is no need.
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

  /// Notes that a key is on its way to the disk.
  void write(KeyName name, StoredKey key) {
    written.put(name, key);
  }

  /// Notes that a key is on the disk.
  void written(KeyName name) {
    var key = written.remove(name);
    if (key != null) {
      remember(name, key);
    }
  }

  /// Keeps a key that is in the store, if there is room.
  void remember(KeyName name, StoredKey key) {
    if (durable.put(name, key) == null) {
      memory.count(1);
    }
    shrink();
  }

  /// Takes over all keys that are in the store, unless they are many.
  void load(Map<KeyName, StoredKey> stored) {
    if (stored.size() > memory.contextMax() || memory.scarce()) {
      all = stored.isEmpty();
    } else {
      stored.forEach(this::remember);
    }
  }

  /// Notes that those on their way to the disk did not get there.
  void rollBack() {
    written.clear();
  }

  /// Leaves durable keys to the store.
  void release() {
    shrinkTo(0);
  }

  /// Forgets all keys, as the context is deleted.
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
