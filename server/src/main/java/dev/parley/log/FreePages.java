package dev.parley.log;

import java.sql.Connection;
import java.sql.SQLException;

/// Overwrites the free pages of an SQLite file that a version before schema 3 left as they were. For
/// the same connection and thread as [SqliteWriter], which commits.
final class FreePages {

  /// Used in the table of erasures instead of a context's number.
  static final long NUMBER = 0;

  /// Recorded together with [#NUMBER] when all free pages hold zeros and only need to be released.
  private static final long ZEROED = -1;

  /// How many bytes of a long row an overflow page holds, and how many its first page holds. SQLite
  /// does not overwrite the unused rest of the last page.
  private static final long OVERFLOW_BYTES = 4_092;

  private static final long ROW_START_BYTES = 485;

  private final Connection connection;

  FreePages(Connection connection) {
    this.connection = connection;
  }

  /// Overwrites up to about `bytes` of free pages. Returns how many bytes were overwritten, less
  /// than `bytes` if all are done.
  ///
  /// A free page can only be overwritten by using it: rows of zeros fill all free pages, then the
  /// rows are deleted.
  long erase(long bytes) throws SQLException {
    var free = Jdbc.number(connection, "PRAGMA freelist_count");
    if (free > 0 && !zerosAreComplete()) {
      Jdbc.execute(connection, "CREATE TABLE IF NOT EXISTS zeros (data BLOB)");
      var pages = Math.max(2, Math.min(free, bytes / OVERFLOW_BYTES));
      var zeros = ROW_START_BYTES + pages * OVERFLOW_BYTES;
      Jdbc.execute(connection, "INSERT INTO zeros VALUES (zeroblob(" + zeros + "))");
      return bytes;
    }
    return dropZeros() ? 0 : bytes;
  }

  private boolean zerosAreComplete() throws SQLException {
    return Jdbc.number(connection, "SELECT count(*) FROM erasures WHERE context = " + ZEROED) > 0;
  }

  private boolean dropZeros() throws SQLException {
    if (Jdbc.number(connection, "SELECT count(*) FROM sqlite_master WHERE name = 'zeros'") == 0) {
      return true;
    }
    Jdbc.execute(connection, "INSERT OR IGNORE INTO erasures VALUES (" + ZEROED + ")");
    // These pages already hold zeros.
    Jdbc.execute(connection, "PRAGMA secure_delete = FAST");
    try {
      Jdbc.execute(connection, "DELETE FROM zeros WHERE rowid = (SELECT max(rowid) FROM zeros)");
    } finally {
      Jdbc.execute(connection, "PRAGMA secure_delete = ON");
    }
    if (Jdbc.number(connection, "SELECT EXISTS (SELECT 1 FROM zeros)") > 0) {
      return false;
    }
    Jdbc.execute(connection, "DROP TABLE zeros");
    Jdbc.execute(connection, "DELETE FROM erasures WHERE context = " + ZEROED);
    return true;
  }
}
