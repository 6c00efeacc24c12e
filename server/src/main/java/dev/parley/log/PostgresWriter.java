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

/// Writes the store of a node through one connection.
///
/// The first statement of each transaction checks the node's epoch and locks the node's row, so a
/// writer that was fenced changes nothing. A commit that only has a block is this one statement:
/// a process that stops in the middle of it holds no lock.
final class PostgresWriter implements BlockStore.StoreWriter {

  private static final long TRIAL_BYTES_MAX = 64 << 10;

  private final Connection connection;
  private final PostgresNode node;
  private final long epoch;
  private final TableWriter tables;
  private final LogEncryption encryption;
  private final DataKeyTable dataKeys;
  private final PreparedStatement insertBlock;

  /// A part of a transaction.
  private interface TransactionStep<T> {
    T run() throws SQLException;
  }

  PostgresWriter(
      Connection connection,
      PostgresNode node,
      long epoch,
      int stateEvents,
      LogEncryption encryption)
      throws SQLException {
    this.connection = connection;
    this.node = node;
    this.epoch = epoch;
    this.encryption = encryption;
    tables = new TableWriter(connection, stateEvents, encryption);
    dataKeys = new DataKeyTable(connection, encryption);
    insertBlock =
        connection.prepareStatement(
            """
            WITH node AS (
              UPDATE nodes SET last_block = ? WHERE id = ? AND epoch = ? RETURNING last_block)
            INSERT INTO blocks (id, data) SELECT last_block, ?::bytea FROM node
            """);
  }

  @Override
  public void loadUnsealed(UnsealedBlocks unsealedBlocks, MemoryLimiters memory)
      throws SQLException {
    // The driver reads a few blocks at a time only inside a transaction.
    transaction(
        () -> {
          // It only reads, so it blocks no other server however long it takes.
          Jdbc.execute(connection, "SET LOCAL idle_in_transaction_session_timeout = 0");
          new TableReader(connection, encryption).loadUnsealed(unsealedBlocks, memory);
          return true;
        });
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
    if (isOnlyBlock(commit)) {
      insertBlock(commit.id(), block);
      return;
    }
    transaction(
        () -> {
          insertBlock(commit.id(), block);
          tables.deleteBlocks(commit.deleting());
          tables.insertNew(commit);
          tables.seal(commit.sealing());
          return true;
        });
  }

  private static boolean isOnlyBlock(LogCommit commit) {
    return commit.deleting().isEmpty()
        && commit.sealing().isEmpty()
        && commit.appends().stream().noneMatch(TableWriter::hasRows);
  }

  /// Checks the epoch and inserts a block.
  private void insertBlock(long id, byte[] data) throws SQLException {
    insertBlock.setLong(1, id);
    insertBlock.setLong(2, node.id());
    insertBlock.setLong(3, epoch);
    insertBlock.setBytes(4, data);
    if (insertBlock.executeUpdate() == 0) {
      throw new FencedException(node.id());
    }
    Jdbc.checkCommitted(insertBlock.getWarnings());
  }

  private void checkEpoch() throws SQLException {
    var current =
        Jdbc.update(
            connection,
            "UPDATE nodes SET last_block = last_block WHERE id = ? AND epoch = ?",
            node.id(),
            epoch);
    if (current == 0) {
      throw new FencedException(node.id());
    }
  }

  /// After a failure, the transaction stays open and the caller closes this writer.
  private <T> T transaction(TransactionStep<T> step) throws SQLException {
    connection.setAutoCommit(false);
    connection.clearWarnings();
    var result = step.run();
    connection.commit();
    Jdbc.checkCommitted(connection.getWarnings());
    connection.setAutoCommit(true);
    return result;
  }

  @Override
  public boolean hasCommit(long id) throws SQLException {
    return existsUnlessFenced("blocks WHERE id = " + id);
  }

  /// Looks for a row in the same statement that checks the epoch: another node that has taken over
  /// may have written a row with this number.
  private boolean existsUnlessFenced(String row) throws SQLException {
    return Jdbc.list(
            connection,
            "SELECT EXISTS (SELECT 1 FROM " + row + ") FROM nodes WHERE id = ? AND epoch = ?",
            found -> found.getBoolean(1),
            node.id(),
            epoch)
        .stream()
        .findFirst()
        .orElseThrow(() -> new FencedException(node.id()));
  }

  /// Nothing to do: this writer began with a commit, and that made all earlier commits durable.
  @Override
  public boolean secureCommits() {
    return true;
  }

  @Override
  public void testWrite(long id, long bytes) throws SQLException {
    transaction(
        () -> {
          insertBlock(id, new byte[(int) Math.min(bytes, TRIAL_BYTES_MAX)]);
          tables.deleteBlocks(List.of(id));
          return true;
        });
  }

  @Override
  public List<Long> pendingErasures() throws SQLException {
    return tables.erasures().pending();
  }

  @Override
  public List<Long> beginErasing(CachedContext context, long mark) throws SQLException {
    return transaction(
        () -> {
          checkEpoch();
          return tables.erasures().begin(context, mark);
        });
  }

  @Override
  public boolean isErased(CachedContext context) throws SQLException {
    return existsUnlessFenced("contexts WHERE deleted = 1 AND number = " + context.number);
  }

  @Override
  public ErasedSlice erase(ErasureSlice slice) throws SQLException {
    return transaction(
        () -> {
          checkEpoch();
          var blocks = new ArrayList<Long>();
          var left = tables.erase(slice, blocks);
          return new ErasedSlice(slice.bytes() - left, blocks);
        });
  }

  @Override
  public void finishErasing(Collection<Long> numbers) throws SQLException {
    transaction(
        () -> {
          checkEpoch();
          tables.erasures().finish(numbers);
          return true;
        });
  }

  @Override
  public boolean hasOldWrappingKeys() throws SQLException {
    return dataKeys.hasOldWrappingKeys();
  }

  @Override
  public void addWrappingKey(NewWrappingKey fresh) throws SQLException {
    transaction(
        () -> {
          checkEpoch();
          dataKeys.add(fresh);
          return true;
        });
    dataKeys.use(fresh);
  }

  @Override
  public RewrappedKeys rewrapKeys(long after, int limit) throws SQLException {
    return transaction(
        () -> {
          checkEpoch();
          return dataKeys.rewrap(after, limit);
        });
  }

  @Override
  public void deleteOldWrappingKeys() throws SQLException {
    transaction(
        () -> {
          checkEpoch();
          dataKeys.deleteOld();
          return true;
        });
  }

  @Override
  public boolean restartJournal() {
    return true;
  }

  @Override
  public boolean truncateJournal() {
    return true;
  }

  @Override
  public void close() throws SQLException {
    tables.close();
    connection.close();
  }
}
