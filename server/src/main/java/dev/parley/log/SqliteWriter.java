package dev.parley.log;

import dev.parley.encryption.KeyRing.NewWrappingKey;
import dev.parley.log.BlockStore.ErasedSlice;
import dev.parley.log.BlockStore.ErasureSlice;
import dev.parley.log.BlockStore.LogCommit;
import dev.parley.log.BlockStore.RewrappedKeys;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;

/// Writes the store through one connection.
final class SqliteWriter implements BlockStore.StoreWriter {

  private static final long TRIAL_BYTES_MIN = 4 << 10;
  private static final long TRIAL_BYTES_MAX = 64 << 10;

  private final Connection connection;
  private final TableWriter tables;
  private final LogEncryption encryption;
  private final DataKeyTable dataKeys;
  private final FreePages freePages;
  private final PreparedStatement insertBlock;

  /// About every `stateEvents` events of a context, a copy of its state is kept permanently.
  SqliteWriter(Connection connection, int stateEvents, LogEncryption encryption)
      throws SQLException {
    this.connection = connection;
    this.encryption = encryption;
    tables = new TableWriter(connection, stateEvents, encryption);
    dataKeys = new DataKeyTable(connection, encryption);
    freePages = new FreePages(connection);
    insertBlock = connection.prepareStatement("INSERT INTO blocks (id, data) VALUES (?, ?)");
  }

  @Override
  public void loadUnsealed(UnsealedBlocks unsealedBlocks, MemoryLimiters memory)
      throws SQLException {
    new TableReader(connection, encryption).loadUnsealed(unsealedBlocks, memory);
  }

  @Override
  public long lastNumber() throws SQLException {
    return tables.lastNumber();
  }

  @Override
  public long lastBlock() throws SQLException {
    return tables.lastBlock();
  }

  @Override
  public void write(LogCommit commit, byte[] block) throws SQLException {
    // This comes first, so that the following statements reuse the freed pages.
    tables.deleteBlocks(commit.deleting());
    tables.insertNew(commit);
    insertBlock(commit.id(), block);
    tables.seal(commit.sealing());
    connection.commit();
  }

  private void insertBlock(long id, byte[] data) throws SQLException {
    insertBlock.setLong(1, id);
    insertBlock.setBytes(2, data);
    insertBlock.executeUpdate();
  }

  @Override
  public boolean hasCommit(long id) throws SQLException {
    return Jdbc.number(connection, "SELECT count(*) FROM blocks WHERE id = " + id) > 0;
  }

  /// Writes the whole content of the write-ahead log to the disk again: a later sync would not.
  /// Copies it into the database, then restarts and syncs the write-ahead log, because an old one
  /// must not override the database.
  @Override
  public boolean secureCommits() throws SQLException {
    if (!truncateJournal()) {
      return false;
    }
    var version = Jdbc.number(connection, "PRAGMA user_version");
    Jdbc.execute(connection, "PRAGMA user_version = " + version);
    connection.commit();
    return true;
  }

  /// Writes rows and deletes them again. The freed pages are overwritten (`secure_delete`), so the
  /// commit writes them.
  @Override
  public void testWrite(long id, long bytes) throws SQLException {
    insertBlock(id, new byte[(int) Math.clamp(bytes, TRIAL_BYTES_MIN, TRIAL_BYTES_MAX)]);
    tables.deleteBlocks(List.of(id));
    connection.commit();
  }

  @Override
  public List<Long> pendingErasures() throws SQLException {
    return tables.erasures().pending();
  }

  @Override
  public List<Long> beginErasing(CachedContext context, long mark) throws SQLException {
    var numbers = tables.erasures().begin(context, mark);
    connection.commit();
    return numbers;
  }

  @Override
  public boolean isErased(CachedContext context) throws SQLException {
    return tables.erasures().isErased(context);
  }

  @Override
  public ErasedSlice erase(ErasureSlice slice) throws SQLException {
    var blocks = new ArrayList<Long>();
    var left = tables.erase(slice, blocks);
    if (left > 0 && slice.numbers().contains(FreePages.NUMBER)) {
      left -= freePages.erase(left);
    }
    connection.commit();
    return new ErasedSlice(slice.bytes() - left, blocks);
  }

  @Override
  public void finishErasing(Collection<Long> numbers) throws SQLException {
    tables.erasures().finish(numbers);
    connection.commit();
  }

  @Override
  public boolean hasOldWrappingKeys() throws SQLException {
    var old = dataKeys.hasOldWrappingKeys();
    connection.commit();
    return old;
  }

  @Override
  public void addWrappingKey(NewWrappingKey fresh) throws SQLException {
    dataKeys.add(fresh);
    connection.commit();
    dataKeys.use(fresh);
    connection.commit();
  }

  @Override
  public RewrappedKeys rewrapKeys(long after, int limit) throws SQLException {
    var rewrapped = dataKeys.rewrap(after, limit);
    connection.commit();
    return rewrapped;
  }

  @Override
  public void deleteOldWrappingKeys() throws SQLException {
    dataKeys.deleteOld();
    connection.commit();
  }

  @Override
  public boolean restartJournal() throws SQLException {
    return checkpoint("RESTART");
  }

  @Override
  public boolean truncateJournal() throws SQLException {
    return checkpoint("TRUNCATE");
  }

  private boolean checkpoint(String mode) throws SQLException {
    connection.commit();
    connection.setAutoCommit(true);
    try {
      // The writer does not wait for readers; it tries again later.
      Jdbc.execute(connection, "PRAGMA busy_timeout = 0");
      return Jdbc.number(connection, "PRAGMA wal_checkpoint(" + mode + ")") == 0;
    } finally {
      // This comes first: without it, later commits would not be atomic.
      connection.setAutoCommit(false);
      Jdbc.execute(connection, "PRAGMA busy_timeout = " + LogDatabase.BUSY_MILLIS);
    }
  }

  @Override
  public void close() throws SQLException {
    tables.close();
    connection.close();
  }
}
