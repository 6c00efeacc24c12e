package dev.parley.log;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;

/// The SQL statements that remove deleted contexts. For the same connection and thread as
/// [TableWriter], whose caller commits.
///
/// A deletion takes many transactions, so that none of them is long. The first one turns the
/// context's row into a tombstone and records in `erasures` whose rows to delete. The record stays
/// until all data is gone, also from the write-ahead log. If the process ends earlier, the next one
/// continues.
final class ErasureTable {

  private static final int KEYS_AT_ONCE = 256;
  private static final int KEY_BYTES = 256;

  private final Connection connection;
  private final SharedRangeTable shares;

  ErasureTable(Connection connection, SharedRangeTable shares) {
    this.connection = connection;
    this.shares = shares;
  }

  /// The numbers of the contexts that have rows to erase; may include [FreePages#NUMBER].
  List<Long> pending() throws SQLException {
    return Jdbc.list(
        connection,
        "SELECT context FROM erasures WHERE context >= 0 ORDER BY context",
        row -> row.getLong(1));
  }

  /// Turns the context's row into a tombstone. Returns this context and earlier deleted ones
  /// whose rows are no longer needed.
  List<Long> begin(CachedContext context, long mark) throws SQLException {
    var numbers = new ArrayList<>(List.of(context.number));
    numbers.addAll(shares.release(context));
    for (var number : numbers) {
      Jdbc.update(
          connection, "INSERT INTO erasures (context) VALUES (?) ON CONFLICT DO NOTHING", number);
    }
    Jdbc.execute(
        connection,
        "UPDATE contexts SET secret = NULL, state = NULL, open_tasks = 0, deleted = 1, touched = "
            + (mark + " WHERE number = " + context.number));
    recordDeleter(context);
    for (var number : numbers) {
      destroyKey(number);
    }
    return numbers;
  }

  /// Removes the key of a deleted context, unless a fork shares some of its entries.
  private void destroyKey(long number) throws SQLException {
    Jdbc.update(
        connection,
        "UPDATE contexts SET data_key = NULL WHERE number = ? AND deleted = 1"
            + " AND NOT EXISTS (SELECT 1 FROM shares WHERE source = ?)",
        number,
        number);
  }

  /// Records who deleted the context, and when.
  private void recordDeleter(CachedContext context) throws SQLException {
    var deletion = context.deletion;
    if (deletion == null) {
      return;
    }
    Jdbc.update(
        connection,
        "UPDATE contexts SET deleted_by = ?, deleted_at = ? WHERE number = ?",
        deletion.principal(),
        deletion.atMillis(),
        context.number);
  }

  boolean isErased(CachedContext context) throws SQLException {
    return Jdbc.number(connection, "SELECT deleted FROM contexts WHERE number = " + context.number)
        != 0;
  }

  /// Deletes up to about `bytes` of rows of a deleted context. Returns how many bytes were deleted,
  /// less than `bytes` if no rows are left.
  long eraseRows(long number, long bytes) throws SQLException {
    var erased = shares.trim(number, bytes);
    while (erased < bytes) {
      var rows = eraseKeys(number) + eraseArtifactHeads(number);
      if (rows == 0) {
        break;
      }
      erased += (long) rows * KEY_BYTES;
    }
    return erased;
  }

  private int eraseKeys(long number) throws SQLException {
    return Jdbc.update(
        connection,
        "DELETE FROM keys WHERE context = ? AND (principal, key) IN"
            + " (SELECT principal, key FROM keys WHERE context = ? LIMIT ?)",
        number,
        number,
        KEYS_AT_ONCE);
  }

  private int eraseArtifactHeads(long number) throws SQLException {
    return Jdbc.update(
        connection,
        "DELETE FROM artifact_heads WHERE context = ? AND artifact IN"
            + " (SELECT artifact FROM artifact_heads WHERE context = ? LIMIT ?)",
        number,
        number,
        KEYS_AT_ONCE);
  }

  /// Removes the chunks of a context from a block, or deletes the block if it is not `needed`
  /// otherwise. Returns the size of the block.
  long eraseChunks(long block, long number, boolean needed) throws SQLException {
    var found =
        Jdbc.list(
            connection, "SELECT data FROM blocks WHERE id = ?", row -> row.getBytes(1), block);
    if (found.isEmpty()) {
      return 0;
    }
    var data = found.getFirst();
    var kept = needed ? without(data, number) : new byte[0];
    if (kept.length == 0) {
      Jdbc.update(connection, "DELETE FROM blocks WHERE id = ?", block);
    } else if (kept.length < data.length) {
      Jdbc.update(connection, "UPDATE blocks SET data = ? WHERE id = ?", kept, block);
    }
    return data.length;
  }

  /// A block without the chunks of a context.
  static byte[] without(byte[] data, long number) {
    var kept = new ByteSink(data.length);
    var in = new ByteSource(data);
    while (in.hasMore()) {
      var context = in.number();
      var chunk = in.block();
      if (context != number) {
        kept.number(context);
        kept.block(chunk);
      }
    }
    return kept.toArray();
  }

  /// Records that these contexts are fully erased.
  void finish(Collection<Long> numbers) throws SQLException {
    for (var number : numbers) {
      Jdbc.update(connection, "DELETE FROM erasures WHERE context = ?", number);
    }
  }
}
