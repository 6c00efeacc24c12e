package dev.parley.log;

import dev.parley.log.BlockStore.ErasureSlice;
import dev.parley.log.BlockStore.LogCommit;
import dev.parley.log.PendingAppend.PreparedFork;
import dev.parley.protocol.ContextEvent.ContextCreated;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Writes the tables of a log through one connection, except the block of a commit. The statements
/// are the same for all databases. The caller ends the transactions. For one thread.
final class TableWriter implements AutoCloseable {

  /// A state is stored regardless of its size after this many times the usual number of events.
  private static final int STATES_SKIPPED = 4;

  /// Maximum number of entries in a segment, so that reading a small page costs little.
  private static final int SEGMENT_EVENTS = 512;

  /// Erasing from a block has a cost, even if the block is small.
  private static final long BLOCK_ROW_BYTES = 256;

  private final Connection connection;
  private final int stateEvents;
  private final LogEncryption encryption;
  private final ChunkPacker packer = new ChunkPacker();
  private final SharedRangeTable shares;
  private final ArtifactHeadTable artifactHeads;
  private final ErasureTable erasures;
  private final PreparedStatement deleteBlock;
  private final PreparedStatement insertContext;
  private final PreparedStatement insertKey;
  private final PreparedStatement insertSegment;
  private final PreparedStatement sealContext;

  /// About every `stateEvents` events of a context, a copy of its state is kept permanently.
  TableWriter(Connection connection, int stateEvents, LogEncryption encryption)
      throws SQLException {
    this.connection = connection;
    this.encryption = encryption;
    this.stateEvents = stateEvents;
    shares = new SharedRangeTable(connection, packer, encryption);
    artifactHeads = new ArtifactHeadTable(connection, packer);
    erasures = new ErasureTable(connection, shares);
    deleteBlock = connection.prepareStatement("DELETE FROM blocks WHERE id = ?");
    insertContext =
        connection.prepareStatement(
            "INSERT INTO contexts (number, id, owner, secret, touched, sealed, state, data_key)"
                + " VALUES (?, ?, ?, ?, ?, ?, ?, ?)");
    insertKey = connection.prepareStatement("INSERT INTO keys VALUES (?, ?, ?, ?, ?, ?)");
    insertSegment =
        connection.prepareStatement("INSERT INTO segments (context, last, data) VALUES (?, ?, ?)");
    sealContext =
        connection.prepareStatement(
            "UPDATE contexts SET sealed = ?, state = ?, open_tasks = ?, touched = ?"
                + " WHERE number = ?");
  }

  /// The highest number of a context, or 0.
  long lastNumber() throws SQLException {
    return Jdbc.number(connection, "SELECT max(number) FROM contexts");
  }

  /// The highest number of a block or of another change, or 0.
  long lastBlock() throws SQLException {
    return Math.max(
        Jdbc.number(connection, "SELECT max(id) FROM blocks"),
        Jdbc.number(connection, "SELECT max(touched) FROM contexts"));
  }

  /// The statements of erasures.
  ErasureTable erasures() {
    return erasures;
  }

  /// Deletes blocks.
  void deleteBlocks(List<Long> ids) throws SQLException {
    for (var id : ids) {
      deleteBlock.setLong(1, id);
      deleteBlock.addBatch();
    }
    if (!ids.isEmpty()) {
      deleteBlock.executeBatch();
    }
  }

  /// Inserts the new contexts, forks and idempotency keys of a commit.
  void insertNew(LogCommit commit) throws SQLException {
    for (var pendingAppend : commit.appends()) {
      insertNew(pendingAppend, commit.id());
    }
    insertContext.executeBatch();
    insertKey.executeBatch();
  }

  /// True if the append needs other rows than the block of its commit.
  static boolean hasRows(PendingAppend pendingAppend) {
    return created(pendingAppend) != null
        || pendingAppend.fork() != null
        || pendingAppend.key() != null;
  }

  private static @Nullable ContextCreated created(PendingAppend pendingAppend) {
    return pendingAppend.runs().getFirst() instanceof StoredEntry first
            && first.entry().event() instanceof ContextCreated created
        ? created
        : null;
  }

  private void insertNew(PendingAppend pendingAppend, long block) throws SQLException {
    var context = pendingAppend.context();
    var created = created(pendingAppend);
    if (created != null) {
      insertContext(context, created.owner(), block);
    }
    if (pendingAppend.fork() != null) {
      insertFork(context, pendingAppend.fork(), block);
    }
    if (pendingAppend.key() != null) {
      insertKey(context, pendingAppend.key());
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
    var state = SavedState.saveWithoutHeads(preparedFork.state(), preparedFork.millis(), packer);
    insertContext.setBytes(
        7, context.cipher.encrypt(state, StoredValue.state(context.number, preparedFork.cut())));
    insertRow(context, preparedFork.state().owner(), block);
    artifactHeads.insertAll(context, preparedFork.state().artifacts());
    shares.insert(context, preparedFork.sharedRanges());
  }

  private void insertRow(CachedContext context, String owner, long block) throws SQLException {
    insertContext.setLong(1, context.number);
    insertContext.setString(2, context.id.value());
    insertContext.setString(3, owner);
    insertContext.setBytes(4, context.ids.bytes());
    insertContext.setLong(5, block);
    insertContext.setBytes(8, encryption.wrap(context.cipher, context.number, context.id));
    insertContext.addBatch();
  }

  private void insertKey(CachedContext context, PendingAppend.NewKey key) throws SQLException {
    insertKey.setLong(1, context.number);
    insertKey.setString(2, key.once().principal());
    insertKey.setString(3, key.once().key());
    insertKey.setString(4, key.once().bodyHash());
    insertKey.setLong(5, PositionCodec.pack(key.appended().first()));
    insertKey.setLong(6, PositionCodec.pack(key.appended().last()));
    insertKey.addBatch();
  }

  /// Moves the unsealed entries of contexts into segments, and stores their states.
  void seal(List<CachedContext> contexts) throws SQLException {
    for (var context : contexts) {
      seal(context);
    }
    if (!contexts.isEmpty()) {
      insertSegment.executeBatch();
      sealContext.executeBatch();
    }
  }

  /// Moves a context's unsealed entries into segments, and stores its state as of the last of them.
  private void seal(CachedContext context) throws SQLException {
    var before = context.sealedTo;
    for (var segment : segments(context.window.after(context.sealedTo))) {
      var last = segment.getLast().last();
      insertSegment.setLong(1, context.number);
      insertSegment.setLong(2, PositionCodec.pack(last));
      var packed = packer.pack(ChunkWriter.chunk(before, segment));
      var place = StoredValue.segment(context.number, PositionCodec.pack(last));
      insertSegment.setBytes(3, context.cipher.encrypt(packed, place));
      insertSegment.addBatch();
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
      sealContext.setBytes(
          2,
          context.cipher.encrypt(
              SavedState.saveWithoutHeads(state, millis, packer),
              StoredValue.state(context.number, before)));
      sealContext.setInt(3, state.openTasks().size());
    } finally {
      context.lock.unlock();
    }
    artifactHeads.save(context, heads);
    if (kept != null) {
      insertSegment.executeBatch(); // The size of a kept state is compared with the segments.
      shares.insertState(context, before, kept, (long) STATES_SKIPPED * stateEvents);
    }
    // Thousands of sealed contexts may stay in memory.
    context.cipher.releaseMemory();
    sealContext.setLong(4, context.lastBlock);
    sealContext.setLong(5, context.number);
    sealContext.addBatch();
  }

  /// Splits runs into parts of about `SEGMENT_EVENTS` entries.
  static List<List<StoredRun>> segments(List<StoredRun> runs) {
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

  /// Erases up to about `slice.bytes()` of chunks and rows. Adds the blocks from which the chunks
  /// were erased to `blocks`, and returns how many bytes are left of `slice.bytes()`.
  long erase(ErasureSlice slice, List<Long> blocks) throws SQLException {
    var left = slice.bytes();
    for (var block : slice.blocks().entrySet()) {
      if (left > 0) {
        left -=
            erasures.eraseChunks(block.getKey(), slice.number(), block.getValue())
                + BLOCK_ROW_BYTES;
        blocks.add(block.getKey());
      }
    }
    for (var number : slice.numbers()) {
      if (left > 0 && number != FreePages.NUMBER) {
        left -= erasures.eraseRows(number, left);
      }
    }
    return left;
  }

  @Override
  public void close() {
    packer.close();
  }
}
