package dev.parley.log;

import dev.parley.log.LogTuning.MemoryLimits;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/// The idempotency keys of a context that are in memory. Used under the context's lock.
///
/// Keys that are being written are always in memory. Of the durable keys, only the latest are; the
/// others are in the store only. A caller that looks up a key in the store calls [#beginLookup]
/// before and [#endLookup] after, and the key stays in memory in between. A key that is found
/// neither in the store nor here was therefore never used.
final class IdempotencyKeyCache {

  /// An idempotency key and its principal.
  record KeyName(String principal, String key) {
    static KeyName of(AppendGuard.IdempotencyKey idempotencyKey) {
      return new KeyName(idempotencyKey.principal(), idempotencyKey.key());
    }
  }

  /// The earlier use of a key.
  record StoredKey(String bodyHash, AppendResult appended) {}

  private final KeyMemoryLimiter memory;
  private final Map<KeyName, StoredKey> pending = new HashMap<>();
  private final LinkedHashMap<KeyName, StoredKey> durable = new LinkedHashMap<>();
  private final Map<KeyName, Integer> lookups = new HashMap<>();
  private boolean complete = true;

  IdempotencyKeyCache(KeyMemoryLimiter memory) {
    this.memory = memory;
  }

  /// The earlier use of a key, if it is in memory.
  @Nullable StoredKey find(KeyName name) {
    var found = pending.get(name);
    return found == null ? durable.get(name) : found;
  }

  /// Begins a look-up in the store. False if none is needed because the key is known here.
  boolean beginLookup(KeyName name) {
    if (complete || find(name) != null) {
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
  void addPending(KeyName name, StoredKey key) {
    pending.put(name, key);
  }

  /// Marks a key as durable.
  void markDurable(KeyName name) {
    var key = pending.remove(name);
    if (key != null) {
      cache(name, key);
    }
  }

  /// Caches a key that is in the store, if there is room.
  void cache(KeyName name, StoredKey key) {
    if (durable.put(name, key) == null) {
      memory.addKeys(1);
    }
    shrink();
  }

  /// Caches all keys that are in the store, unless there are too many.
  void load(Map<KeyName, StoredKey> stored) {
    if (stored.size() > memory.contextMax() || memory.scarce()) {
      complete = stored.isEmpty();
    } else {
      stored.forEach(this::cache);
    }
  }

  /// Drops the keys whose write failed.
  void rollBack() {
    pending.clear();
  }

  /// Removes durable keys from memory; they stay in the store.
  void release() {
    shrinkTo(0);
  }

  /// Removes all keys, because the context was deleted.
  void clear() {
    pending.clear();
    memory.addKeys(-durable.size());
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
        memory.addKeys(-1);
        complete = false;
      }
    }
  }

  /// Counts and limits the idempotency keys of all contexts that are in memory. For any thread.
  static final class KeyMemoryLimiter {

    private final MemoryLimits limits;
    private final AtomicInteger kept = new AtomicInteger();

    KeyMemoryLimiter(MemoryLimits limits) {
      this.limits = limits;
    }

    int kept() {
      return kept.get();
    }

    void addKeys(int change) {
      kept.addAndGet(change);
    }

    /// Maximum number of keys of one context.
    int contextMax() {
      return limits.contextKeys();
    }

    /// True if there are too many keys.
    boolean full() {
      return kept.get() > limits.keys();
    }

    /// True if unused contexts should keep no keys.
    boolean scarce() {
      return kept.get() > limits.keys() / 2;
    }
  }
}
