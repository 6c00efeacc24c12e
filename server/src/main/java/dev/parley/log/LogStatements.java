package dev.parley.log;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.List;

/// The SQL statements of the log's writer. For one connection and one thread; each method is part
/// of a transaction.
final class LogStatements implements AutoCloseable {

  /// A state is stored regardless of its size after this many times the usual number of events.
  private static final int STATES_SKIPPED = 4;

  /// Maximum number of entries in a segment, so that reading a small page costs little.
  private static final int SEGMENT_EVENTS = 512;

  private static final long TRIAL_BYTES_MIN = 4 << 10;
  private static final long TRIAL_BYTES_MAX = 64 << 10;

  private final Connection connection;
  private final ChunkPacker packer = new ChunkPacker();
  private final SharedRangeTable shares;
  private final ArtifactHeadTable artifactHeads;
  private final ErasureTable erasures;
  private final PreparedStatement insertBlock;
  private final PreparedStatement deleteBlock;
  private final PreparedStatement insertContext;
  private final PreparedStatement insertKey;
  private final PreparedStatement insertSegment;
  private final PreparedStatement sealContext;

  LogStatements(Connection connection) throws SQLException {
    this.connection = connection;
    shares = new SharedRangeTable(connection, packer);
    artifactHeads = new ArtifactHeadTable(connection, packer);
    erasures = new ErasureTable(connection, shares);
    insertBlock = connection.prepareStatement("INSERT INTO blocks (id, data) VALUES (?, ?)");
    deleteBlock = connection.prepareStatement("DELETE FROM blocks WHERE id = ?");
    insertContext =
        connection.prepareStatement(
            "INSERT INTO contexts (number, id, owner, secret, touched, sealed, state)"
                + " VALUES (?, ?, ?, ?, ?, ?, ?)");
    insertKey = connection.prepareStatement("INSERT INTO keys VALUES (?, ?, ?, ?, ?, ?)");
    insertSegment =
        connection.prepareStatement("INSERT INTO segments (context, last, data) VALUES (?, ?, ?)");
    sealContext =
        connection.prepareStatement(
            "UPDATE contexts SET sealed = ?, state = ?, open_tasks = ?, touched = ?"
                + " WHERE number = ?");
  }

  void insertBlock(long id, byte[] data) throws SQLException {
    insertBlock.setLong(1, id);
    insertBlock.setBytes(2, data);
    insertBlock.executeUpdate();
  }

  void deleteBlocks(List<Long> ids) throws SQLException {
    for (var id : ids) {
      deleteBlock.setLong(1, id);
      deleteBlock.executeUpdate();
    }
  }

  void insertContext(CachedContext context, String owner, long block) throws SQLException {
    insertContext.setLong(6, 0);
    insertContext.setBytes(7, null);
    insertRow(context, owner, block);
  }

  /// Inserts a fork. All entries that it shares are in segments of other contexts already.
  void insertFork(CachedContext context, PreparedFork preparedFork, long block)
      throws SQLException {
    insertContext.setLong(6, PositionCodec.pack(preparedFork.cut()));
    insertContext.setBytes(
        7, SavedState.saveWithoutHeads(preparedFork.state(), preparedFork.millis(), packer));
    insertRow(context, preparedFork.state().owner(), block);
    artifactHeads.insertAll(context.number, preparedFork.state().artifacts());
    shares.insert(context, preparedFork.sharedRanges());
  }

  private void insertRow(CachedContext context, String owner, long block) throws SQLException {
    insertContext.setLong(1, context.number);
    insertContext.setString(2, context.id.value());
    insertContext.setString(3, owner);
    insertContext.setBytes(4, EventIdSecret.bytes(context.ids));
    insertContext.setLong(5, block);
    insertContext.executeUpdate();
  }

  void insertKey(CachedContext context, PendingAppend.NewKey key) throws SQLException {
    insertKey.setLong(1, context.number);
    insertKey.setString(2, key.once().principal());
    insertKey.setString(3, key.once().key());
    insertKey.setString(4, key.once().bodyHash());
    insertKey.setLong(5, PositionCodec.pack(key.appended().first()));
    insertKey.setLong(6, PositionCodec.pack(key.appended().last()));
    insertKey.executeUpdate();
  }

  /// Moves a context's unsealed entries into segments, and stores its state as of the last of them.
  /// About every `stateEvents` events, a copy of that state is kept permanently, unless it is
  /// large.
  void seal(CachedContext context, int stateEvents) throws SQLException {
    var slots = context.window.after(context.sealedTo, Integer.MAX_VALUE);
    var before = context.sealedTo;
    for (var from = 0; from < slots.size(); from += SEGMENT_EVENTS) {
      var part = slots.subList(from, Math.min(slots.size(), from + SEGMENT_EVENTS));
      var last = part.getLast().entry().position();
      insertSegment.setLong(1, context.number);
      insertSegment.setLong(2, PositionCodec.pack(last));
      insertSegment.setBytes(3, packer.pack(ChunkWriter.chunk(before, part)));
      insertSegment.executeUpdate();
      before = last;
    }
    sealContext.setLong(1, PositionCodec.pack(before));
    byte[] kept = null;
    ArtifactHeadTable.HeadChanges heads;
    context.lock.lock();
    try {
      var state = context.durableState();
      var millis = context.durableMillis();
      heads = context.unsavedHeads();
      if (before.seq() / stateEvents > context.sealedTo.seq() / stateEvents) {
        kept = SavedState.save(state, millis);
      }
      sealContext.setBytes(2, SavedState.saveWithoutHeads(state, millis, packer));
      sealContext.setInt(3, state.openTasks().size());
    } finally {
      context.lock.unlock();
    }
    artifactHeads.save(context.number, heads);
    if (kept != null) {
      shares.insertState(context, before, kept, (long) STATES_SKIPPED * stateEvents);
    }
    sealContext.setLong(4, context.lastBlock);
    sealContext.setLong(5, context.number);
    sealContext.executeUpdate();
  }

  boolean hasBlock(long id) throws SQLException {
    return LogDatabase.number(connection, "SELECT count(*) FROM blocks WHERE id = " + id) > 0;
  }

  /// Writes about as many bytes as the failed commit and deletes them again, in one commit that
  /// changes nothing. The freed pages are overwritten (`secure_delete`), so the commit writes them.
  /// `id` must not be in use.
  ///
  /// @throws SQLException if the store cannot be written
  void testWrite(long id, long bytes) throws SQLException {
    insertBlock(id, new byte[(int) Math.clamp(bytes, TRIAL_BYTES_MIN, TRIAL_BYTES_MAX)]);
    deleteBlocks(List.of(id));
    connection.commit();
  }

  /// The statements that remove deleted contexts.
  ErasureTable erasures() {
    return erasures;
  }

  void commit() throws SQLException {
    connection.commit();
  }

  /// Copies the write-ahead log into the database and restarts it. False if a reader blocks this.
  boolean restartWal() throws SQLException {
    return checkpoint("RESTART");
  }

  /// Truncates the write-ahead log. False if a reader blocks this.
  boolean truncateWal() throws SQLException {
    return checkpoint("TRUNCATE");
  }

  /// Writes the whole content of the write-ahead log to the disk again. False if a reader blocks
  /// this.
  ///
  /// After a failed sync, data that can be read from the write-ahead log may not be on the disk,
  /// and a later sync would not write it. This method therefore copies all of it into the database,
  /// then restarts and syncs the write-ahead log, because an old one must not override the
  /// database.
  boolean rewriteWal() throws SQLException {
    if (!truncateWal()) {
      return false;
    }
    var version = LogDatabase.number(connection, "PRAGMA user_version");
    LogDatabase.execute(connection, "PRAGMA user_version = " + version);
    connection.commit();
    return true;
  }

  private boolean checkpoint(String mode) throws SQLException {
    connection.commit();
    connection.setAutoCommit(true);
    try {
      // The writer does not wait for readers; it tries again later.
      LogDatabase.execute(connection, "PRAGMA busy_timeout = 0");
      return LogDatabase.number(connection, "PRAGMA wal_checkpoint(" + mode + ")") == 0;
    } finally {
      // This comes first: without it, later commits would not be atomic.
      connection.setAutoCommit(false);
      LogDatabase.execute(connection, "PRAGMA busy_timeout = " + LogDatabase.BUSY_MILLIS);
    }
  }

  @Override
  public void close() throws SQLException {
    packer.close();
    connection.close();
  }
}
