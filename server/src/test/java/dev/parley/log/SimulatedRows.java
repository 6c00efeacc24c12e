package dev.parley.log;

import dev.parley.log.SimulatedTables.RowKey;
import dev.parley.log.SimulatedTables.Table;
import org.jspecify.annotations.Nullable;

/// The rows of a log in a simulated database.
final class SimulatedRows {

  private SimulatedRows() {}

  /// A row of the table `contexts`. A tombstone has neither a secret nor a state.
  @SuppressWarnings("ArrayRecordComponent") // Never compared.
  record ContextData(
      long number,
      String id,
      String owner,
      byte @Nullable [] secret,
      long sealed,
      byte @Nullable [] state,
      int openTasks,
      long touched,
      boolean deleted) {

    ContextData sealed(long last, byte[] saved, int open, long block) {
      return new ContextData(number, id, owner, secret, last, saved, open, block, deleted);
    }

    ContextData erased(long mark) {
      return new ContextData(number, id, owner, null, sealed, null, 0, mark, true);
    }
  }

  /// A row of the table `keys`.
  record KeyData(String principal, String key, String hash, long first, long last) {}

  /// A row of the table `shares`.
  @SuppressWarnings("ArrayRecordComponent") // Never compared.
  record ShareData(long source, byte[] secret, long last) {}

  static RowKey context(long number) {
    return RowKey.of(Table.CONTEXTS, number);
  }

  static RowKey block(long id) {
    return RowKey.of(Table.BLOCKS, id);
  }

  static RowKey segment(long number, long last) {
    return RowKey.of(Table.SEGMENTS, number, last);
  }

  static RowKey key(long number, String principal, String key) {
    return new RowKey(Table.KEYS, number, 0, principal + "\n" + key);
  }
}
