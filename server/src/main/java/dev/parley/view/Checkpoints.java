package dev.parley.view;

import dev.parley.protocol.ContextId;
import dev.parley.protocol.Position;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/// Folds of the past that were made on the way to others, so that whoever looks at the past again need
/// not begin at the start.
///
/// What stands in the log never changes, so neither does a fold of it. Those that nobody asked for
/// longest go first.
final class Checkpoints {

  /// A whole database, small as it holds no text but of messages.
  @SuppressWarnings("ArrayRecordComponent") // Never compared, and never changed.
  record Checkpoint(Position at, byte[] image) {}

  private record Key(ContextId context, Position at) {}

  private final long bytesMax;
  private final Map<Key, Checkpoint> kept = new LinkedHashMap<>(16, 0.75f, true);
  private long bytes;

  Checkpoints(long bytesMax) {
    this.bytesMax = bytesMax;
  }

  /// The last one that is not after `at`.
  synchronized Optional<Checkpoint> before(ContextId context, Position at) {
    return kept.keySet().stream()
        .filter(key -> key.context().equals(context) && !key.at().after(at))
        .map(Key::at)
        .reduce((one, other) -> one.after(other) ? one : other)
        .map(found -> kept.get(new Key(context, found)));
  }

  synchronized void keep(ContextId context, Checkpoint checkpoint) {
    if (checkpoint.image().length > bytesMax) {
      return;
    }
    remove(new Key(context, checkpoint.at()));
    kept.put(new Key(context, checkpoint.at()), checkpoint);
    bytes += checkpoint.image().length;
    while (bytes > bytesMax) {
      remove(kept.keySet().iterator().next());
    }
  }

  synchronized void forget(ContextId context) {
    kept.keySet().stream()
        .filter(key -> key.context().equals(context))
        .toList()
        .forEach(this::remove);
  }

  private void remove(Key key) {
    var removed = kept.remove(key);
    if (removed != null) {
      bytes -= removed.image().length;
    }
  }
}
