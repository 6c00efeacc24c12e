package dev.parley.log;

import dev.parley.log.BlockStore.ErasedSlice;
import dev.parley.log.BlockStore.ErasureSlice;
import dev.parley.log.BlockStore.LogCommit;
import dev.parley.log.PendingAppend.PreparedFork;
import dev.parley.protocol.ContextEvent.ContextCreated;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;

/// Writes the store through one connection.
final class SqliteWriter implements BlockStore.StoreWriter {

  /// A state is stored regardless of its size after this many times the usual number of events.
  private static final int STATES_SKIPPED = 4;

  /// Maximum number of entries in a segment, so that reading a small page costs little.
  private static final int SEGMENT_EVENTS = 512;

  /// Erasing from a block has a cost, even if the block is small.
  private static final long BLOCK_ROW_BYTES = 256;

  private static final long TRIAL_BYTES_MIN = 4 << 10;
  private static final long TRIAL_BYTES_MAX = 64 << 10;

  private final Connection connection;
  private final int stateEvents;
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

  /// About every `stateEvents` events of a context, a copy of its state is kept permanently.
  SqliteWriter(Connection connection, int stateEvents) throws SQLException {
    this.connection = connection;
    this.stateEvents = stateEvents;
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

  @Override
  public void loadUnsealed(UnsealedBlocks unsealedBlocks, MemoryLimiters memory)
      throws SQLException {
    new SqliteReader(connection).loadUnsealed(unsealedBlocks, memory);
  }

  @Override
  public long lastNumber() throws SQLException {
    return LogDatabase.number(connection, "SELECT max(number) FROM contexts");
  }

  @Override
  public long lastBlock() throws SQLException {
    return Math.max(
        LogDatabase.number(connection, "SELECT max(id) FROM blocks"),
        LogDatabase.number(connection, "SELECT max(touched) FROM contexts"));
  }

  @Override
  public void write(LogCommit commit, byte[] block) throws SQLException {
    // This comes first, so that the following statements reuse the freed pages.
    deleteBlocks(commit.deleting());
    for (var pendingAppend : commit.appends()) {
      insertNew(pendingAppend, commit.id());
    }
    insertBlock(commit.id(), block);
    for (var context : commit.sealing()) {
      seal(context);
    }
    connection.commit();
  }

  private void insertNew(PendingAppend pendingAppend, long block) throws SQLException {
    var context = pendingAppend.context();
    if (pendingAppend.runs().getFirst() instanceof StoredEntry first
        && first.entry().event() instanceof ContextCreated created) {
      insertContext(context, created.owner(), block);
    }
    if (pendingAppend.fork() != null) {
      insertFork(context, pendingAppend.fork(), block);
    }
    if (pendingAppend.key() != null) {
      insertKey(context, pendingAppend.key());
    }
  }

  private void insertBlock(long id, byte[] data) throws SQLException {
    insertBlock.setLong(1, id);
    insertBlock.setBytes(2, data);
    insertBlock.executeUpdate();
  }

  private void deleteBlocks(List<Long> ids) throws SQLException {
    for (var id : ids) {
      deleteBlock.setLong(1, id);
      deleteBlock.executeUpdate();
    }
  }

  private void insertContext(CachedContext context, String owner, long block) throws SQLException {
    insertContext.setLong(6, 0);
    insertContext.setBytes(7, null);
    insertRow(context, owner, block);
  }

  /// Inserts a fork. All entries that it shares are in segments of other contexts already.
  private void insertFork(CachedContext context, PreparedFork preparedFork, long block)
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
    insertContext.setBytes(4, context.ids.bytes());
    insertContext.setLong(5, block);
    insertContext.executeUpdate();
  }

  private void insertKey(CachedContext context, PendingAppend.NewKey key) throws SQLException {
    insertKey.setLong(1, context.number);
    insertKey.setString(2, key.once().principal());
    insertKey.setString(3, key.once().key());
    insertKey.setString(4, key.once().bodyHash());
    insertKey.setLong(5, PositionCodec.pack(key.appended().first()));
    insertKey.setLong(6, PositionCodec.pack(key.appended().last()));
    insertKey.executeUpdate();
  }

  /// Moves a context's unsealed entries into segments, and stores its state as of the last of them.
  private void seal(CachedContext context) throws SQLException {
    var before = context.sealedTo;
    for (var segment : segments(context.window.after(context.sealedTo))) {
      var last = segment.getLast().last();
      insertSegment.setLong(1, context.number);
      insertSegment.setLong(2, PositionCodec.pack(last));
      insertSegment.setBytes(3, packer.pack(ChunkWriter.chunk(before, segment)));
      insertSegment.executeUpdate();
      before = last;
    }
    sealContext.setLong(1, PositionCodec.pack(before));
    byte[] kept = null;
    CachedContext.HeadChanges heads;
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

  /// Splits runs into parts of about `SEGMENT_EVENTS` entries.
  private static List<List<StoredRun>> segments(List<StoredRun> runs) {
    var segments = new ArrayList<List<StoredRun>>();
    var room = 0;
    for (var run : runs) {
      if (run.size() > room) {
        segments.add(new ArrayList<>());
        room = SEGMENT_EVENTS;
      }
      segments.getLast().add(run);
      room -= run.size();
    }
    return segments;
  }

  @Override
  public boolean hasCommit(long id) throws SQLException {
    return LogDatabase.number(connection, "SELECT count(*) FROM blocks WHERE id = " + id) > 0;
  }

  /// Writes the whole content of the write-ahead log to the disk again: a later sync would not.
  /// Copies it into the database, then restarts and syncs the write-ahead log, because an old one
  /// must not override the database.
  @Override
  public boolean secureCommits() throws SQLException {
    if (!truncateJournal()) {
      return false;
    }
    var version = LogDatabase.number(connection, "PRAGMA user_version");
    LogDatabase.execute(connection, "PRAGMA user_version = " + version);
    connection.commit();
    return true;
  }

  /// Writes rows and deletes them again. The freed pages are overwritten (`secure_delete`), so the
  /// commit writes them.
  @Override
  public void testWrite(long id, long bytes) throws SQLException {
    insertBlock(id, new byte[(int) Math.clamp(bytes, TRIAL_BYTES_MIN, TRIAL_BYTES_MAX)]);
    deleteBlocks(List.of(id));
    connection.commit();
  }

  @Override
  public List<Long> pendingErasures() throws SQLException {
    return erasures.pending();
  }

  @Override
  public List<Long> beginErasing(CachedContext context, long mark) throws SQLException {
    var numbers = erasures.begin(context, mark);
    connection.commit();
    return numbers;
  }

  @Override
  public boolean isErased(CachedContext context) throws SQLException {
    return erasures.isErased(context);
  }

  @Override
  public ErasedSlice erase(ErasureSlice slice) throws SQLException {
    var left = slice.bytes();
    var blocks = new ArrayList<Long>();
    for (var block : slice.blocks().entrySet()) {
      if (left > 0) {
        left -=
            erasures.eraseChunks(block.getKey(), slice.number(), block.getValue())
                + BLOCK_ROW_BYTES;
        blocks.add(block.getKey());
      }
    }
    for (var number : slice.numbers()) {
      if (left > 0) {
        left -=
            number == ErasureTable.FREE_PAGES
                ? erasures.eraseFreePages(left)
                : erasures.eraseRows(number, left);
      }
    }
    connection.commit();
    return new ErasedSlice(slice.bytes() - left, blocks);
  }

  @Override
  public void finishErasing(Collection<Long> numbers) throws SQLException {
    erasures.finish(numbers);
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
