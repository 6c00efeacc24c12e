package dev.parley.log;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;

/// The SQL statements that remove deleted contexts. For the same connection and thread as
/// [SqliteWriter], which commits.
///
/// A deletion takes many transactions, so that none of them is long. The first one turns the
/// context's row into a tombstone and records in `erasures` whose rows to delete. The record stays
/// until all data is gone, also from the write-ahead log. If the process ends earlier, the next one
/// continues.
final class ErasureTable {

  /// Used instead of a context's number: the free pages, which versions before schema 3 did not
  /// overwrite.
  static final long FREE_PAGES = 0;

  /// Set together with [#FREE_PAGES] when all free pages hold zeros and only need to be released.
  private static final long FREE_PAGES_ZEROED = -1;

  /// How many bytes of a long row an overflow page holds, and how many its first page holds. SQLite
  /// does not overwrite the unused rest of the last page.
  private static final long OVERFLOW_BYTES = 4_092;

  private static final long ROW_START_BYTES = 485;

  private static final int KEYS_AT_ONCE = 256;
  private static final int KEY_BYTES = 256;

  private final Connection connection;
  private final SharedRangeTable shares;

  ErasureTable(Connection connection, SharedRangeTable shares) {
    this.connection = connection;
    this.shares = shares;
  }

  /// The numbers of the contexts that have rows to erase; may include [#FREE_PAGES].
  List<Long> pending() throws SQLException {
    return LogDatabase.list(
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
      LogDatabase.update(connection, "INSERT OR IGNORE INTO erasures (context) VALUES (?)", number);
    }
    LogDatabase.execute(
        connection,
        "UPDATE contexts SET secret = NULL, state = NULL, open_tasks = 0, deleted = 1, touched = "
            + (mark + " WHERE number = " + context.number));
    recordDeleter(context);
    return numbers;
  }

  /// Records who deleted the context, and when.
  private void recordDeleter(CachedContext context) throws SQLException {
    var deletion = context.deletion;
    if (deletion == null) {
      return;
    }
    LogDatabase.update(
        connection,
        "UPDATE contexts SET deleted_by = ?, deleted_at = ? WHERE number = ?",
        deletion.principal(),
        deletion.atMillis(),
        context.number);
  }

  boolean isErased(CachedContext context) throws SQLException {
    return LogDatabase.number(
            connection, "SELECT deleted FROM contexts WHERE number = " + context.number)
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
    return LogDatabase.update(
        connection,
        "DELETE FROM keys WHERE context = ?1 AND (principal, key) IN"
            + " (SELECT principal, key FROM keys WHERE context = ?1 LIMIT ?2)",
        number,
        KEYS_AT_ONCE);
  }

  private int eraseArtifactHeads(long number) throws SQLException {
    return LogDatabase.update(
        connection,
        "DELETE FROM artifact_heads WHERE context = ?1 AND artifact IN"
            + " (SELECT artifact FROM artifact_heads WHERE context = ?1 LIMIT ?2)",
        number,
        KEYS_AT_ONCE);
  }

  /// Removes the chunks of a context from a block, or deletes the block if it is not `needed`
  /// otherwise. Returns the size of the block.
  long eraseChunks(long block, long number, boolean needed) throws SQLException {
    var found =
        LogDatabase.list(
            connection, "SELECT data FROM blocks WHERE id = ?", row -> row.getBytes(1), block);
    if (found.isEmpty()) {
      return 0;
    }
    var data = found.getFirst();
    var kept = needed ? without(data, number) : new byte[0];
    if (kept.length == 0) {
      LogDatabase.update(connection, "DELETE FROM blocks WHERE id = ?", block);
    } else if (kept.length < data.length) {
      LogDatabase.update(connection, "UPDATE blocks SET data = ? WHERE id = ?", kept, block);
    }
    return data.length;
  }

  private static byte[] without(byte[] data, long number) {
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

  /// Overwrites up to about `bytes` of free pages. Returns how many bytes were overwritten, less
  /// than `bytes` if all are done.
  ///
  /// A free page can only be overwritten by using it: rows of zeros fill all free pages, then the
  /// rows are deleted.
  long eraseFreePages(long bytes) throws SQLException {
    var free = LogDatabase.number(connection, "PRAGMA freelist_count");
    if (free > 0 && !zerosAreComplete()) {
      LogDatabase.execute(connection, "CREATE TABLE IF NOT EXISTS zeros (data BLOB)");
      var pages = Math.max(2, Math.min(free, bytes / OVERFLOW_BYTES));
      var zeros = ROW_START_BYTES + pages * OVERFLOW_BYTES;
      LogDatabase.execute(connection, "INSERT INTO zeros VALUES (zeroblob(" + zeros + "))");
      return bytes;
    }
    return dropZeros() ? 0 : bytes;
  }

  private boolean zerosAreComplete() throws SQLException {
    return LogDatabase.number(
            connection, "SELECT count(*) FROM erasures WHERE context = " + FREE_PAGES_ZEROED)
        > 0;
  }

  private boolean dropZeros() throws SQLException {
    if (LogDatabase.number(connection, "SELECT count(*) FROM sqlite_master WHERE name = 'zeros'")
        == 0) {
      return true;
    }
    LogDatabase.execute(
        connection, "INSERT OR IGNORE INTO erasures VALUES (" + FREE_PAGES_ZEROED + ")");
    // These pages already hold zeros.
    LogDatabase.execute(connection, "PRAGMA secure_delete = FAST");
    try {
      LogDatabase.execute(
          connection, "DELETE FROM zeros WHERE rowid = (SELECT max(rowid) FROM zeros)");
    } finally {
      LogDatabase.execute(connection, "PRAGMA secure_delete = ON");
    }
    if (LogDatabase.number(connection, "SELECT EXISTS (SELECT 1 FROM zeros)") > 0) {
      return false;
    }
    LogDatabase.execute(connection, "DROP TABLE zeros");
    LogDatabase.execute(connection, "DELETE FROM erasures WHERE context = " + FREE_PAGES_ZEROED);
    return true;
  }

  /// Records that these contexts are fully erased.
  void finish(Collection<Long> numbers) throws SQLException {
    for (var number : numbers) {
      LogDatabase.update(connection, "DELETE FROM erasures WHERE context = ?", number);
    }
  }
}
