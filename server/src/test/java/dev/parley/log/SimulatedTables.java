package dev.parley.log;

import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// The rows of a simulated database. Rows are never changed, only replaced.
final class SimulatedTables {

  private final TreeMap<RowKey, Object> rows = new TreeMap<>();

  enum Table {
    CLUSTER,
    NODES,
    NODE_IDS,
    BEATS,
    CONTEXTS,
    BLOCKS,
    SEGMENTS,
    KEYS,
    SHARES,
    STATES,
    ERASURES
  }

  /// The primary key of a row; tables with shorter keys leave the rest at 0 or empty.
  record RowKey(Table table, long first, long second, String name) implements Comparable<RowKey> {

    static RowKey of(Table table, long first) {
      return new RowKey(table, first, 0, "");
    }

    static RowKey of(Table table, long first, long second) {
      return new RowKey(table, first, second, "");
    }

    @Override
    public int compareTo(RowKey other) {
      var order = table.compareTo(other.table);
      order = order != 0 ? order : Long.compare(first, other.first);
      order = order != 0 ? order : Long.compare(second, other.second);
      return order != 0 ? order : name.compareTo(other.name);
    }
  }

  /// A new value of a row; null deletes it.
  record RowChange(RowKey key, @Nullable Object row) {}

  void apply(List<RowChange> changes) {
    for (var change : changes) {
      if (change.row() == null) {
        rows.remove(change.key());
      } else {
        rows.put(change.key(), change.row());
      }
    }
  }

  @Nullable Object get(RowKey key) {
    return rows.get(key);
  }

  <T> @Nullable T get(Class<T> type, RowKey key) {
    return type.cast(rows.get(key));
  }

  /// All rows of a table.
  NavigableMap<RowKey, Object> all(Table table) {
    return rows.subMap(
        RowKey.of(table, Long.MIN_VALUE, Long.MIN_VALUE),
        true,
        new RowKey(table, Long.MAX_VALUE, Long.MAX_VALUE, "\uffff"),
        true);
  }

  /// The rows of a table whose key begins with `first`.
  NavigableMap<RowKey, Object> of(Table table, long first) {
    return rows.subMap(
        RowKey.of(table, first, Long.MIN_VALUE),
        true,
        new RowKey(table, first, Long.MAX_VALUE, "\uffff"),
        true);
  }

  <T> Stream<T> values(Class<T> type, Table table) {
    return all(table).values().stream().map(type::cast);
  }

  /// The highest key of a table, or 0.
  long last(Table table) {
    Map.@Nullable Entry<RowKey, Object> last = all(table).lastEntry();
    return last == null ? 0 : last.getKey().first();
  }
}
