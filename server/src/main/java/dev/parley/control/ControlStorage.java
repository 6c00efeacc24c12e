package dev.parley.control;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// Stores small documents by kind and id. Thread-safe.
public interface ControlStorage extends AutoCloseable {

  /// A document that is written or, if `data` is null, removed.
  record ControlChange(String kind, String id, @Nullable String data) {}

  /// The documents of a kind, by id.
  ///
  /// @throws dev.parley.protocol.Rejection.Unavailable if they cannot be read
  Map<String, String> load(String kind);

  /// One document.
  ///
  /// @throws dev.parley.protocol.Rejection.Unavailable if it cannot be read
  default Optional<String> find(String kind, String id) {
    return Optional.ofNullable(load(kind).get(id));
  }

  /// Makes the changes, all or none. They are durable when it returns.
  ///
  /// @throws dev.parley.protocol.Rejection.Unavailable if they cannot be written
  void write(List<ControlChange> changes);

  @Override
  default void close() {}

  /// Keeps everything in memory.
  static ControlStorage inMemory() {
    return new InMemory();
  }

  /// The monitor guards the documents.
  final class InMemory implements ControlStorage {
    private final Map<String, Map<String, String>> documents = new LinkedHashMap<>();

    private InMemory() {}

    @Override
    public synchronized Map<String, String> load(String kind) {
      return Map.copyOf(documents.getOrDefault(kind, Map.of()));
    }

    @Override
    public synchronized void write(List<ControlChange> changes) {
      for (var change : changes) {
        var kind = documents.computeIfAbsent(change.kind(), _ -> new LinkedHashMap<>());
        if (change.data() == null) {
          kind.remove(change.id());
        } else {
          kind.put(change.id(), change.data());
        }
      }
    }
  }
}
