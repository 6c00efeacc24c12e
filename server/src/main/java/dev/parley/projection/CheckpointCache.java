package dev.parley.projection;

import dev.parley.protocol.ContextId;
import dev.parley.protocol.Position;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/// Caches intermediate states of past snapshots, so that a later snapshot need not fold the log
/// from the start.
///
/// Log entries never change, so a checkpoint never becomes stale. The least recently used
/// checkpoints are removed first.
final class CheckpointCache {

  /// A serialized database. It is small: the only text that it holds is that of messages.
  @SuppressWarnings("ArrayRecordComponent") // Never compared, and never changed.
  record Checkpoint(Position at, byte[] image) {}

  private record Key(ContextId context, Position at) {}

  private final long bytesMax;
  private final Map<Key, Checkpoint> checkpoints = new LinkedHashMap<>(16, 0.75f, true);
  private long bytes;

  CheckpointCache(long bytesMax) {
    this.bytesMax = bytesMax;
  }

  /// Returns the last checkpoint that is not after `at`.
  synchronized Optional<Checkpoint> lastUpTo(ContextId context, Position at) {
    return checkpoints.keySet().stream()
        .filter(key -> key.context().equals(context) && !key.at().after(at))
        .map(Key::at)
        .reduce((one, other) -> one.after(other) ? one : other)
        .map(found -> checkpoints.get(new Key(context, found)));
  }

  synchronized void put(ContextId context, Checkpoint checkpoint) {
    if (checkpoint.image().length > bytesMax) {
      return;
    }
    remove(new Key(context, checkpoint.at()));
    checkpoints.put(new Key(context, checkpoint.at()), checkpoint);
    bytes += checkpoint.image().length;
    while (bytes > bytesMax) {
      remove(checkpoints.keySet().iterator().next());
    }
  }

  synchronized void forget(ContextId context) {
    checkpoints.keySet().stream()
        .filter(key -> key.context().equals(context))
        .toList()
        .forEach(this::remove);
  }

  private void remove(Key key) {
    var removed = checkpoints.remove(key);
    if (removed != null) {
      bytes -= removed.image().length;
    }
  }
}
