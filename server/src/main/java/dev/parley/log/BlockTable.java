package dev.parley.log;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

/// The writer's statements. One connection, one thread; every method is part of a transaction.
final class BlockTable implements AutoCloseable {

  /// How many entries a segment holds at most, so that a page of a few costs little to read.
  private static final int SEGMENT_EVENTS = 512;

  private static final long PAGE_BYTES = 4_096;
  private static final long ERASE_BYTES = 1 << 20;

  private final Connection connection;
  private final Packed packed = new Packed();
  private final ShareTable shares;
  private final ArtifactHeadTable artifactHeads;
  private final PreparedStatement insertBlock;
  private final PreparedStatement deleteBlock;
  private final PreparedStatement insertContext;
  private final PreparedStatement insertKey;
  private final PreparedStatement insertSegment;
  private final PreparedStatement sealContext;

  BlockTable(Connection connection) throws SQLException {
    this.connection = connection;
    shares = new ShareTable(connection, packed);
    artifactHeads = new ArtifactHeadTable(connection, packed);
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

  void insertContext(LiveContext context, String owner, long block) throws SQLException {
    insertContext.setLong(6, 0);
    insertContext.setBytes(7, null);
    insertRow(context, owner, block);
  }

  /// A fork begins with all that it shares in segments, of other contexts.
  void insertFork(LiveContext context, Fork fork, long block) throws SQLException {
    insertContext.setLong(6, Positions.pack(fork.cut()));
    insertContext.setBytes(7, SavedState.saveWithoutHeads(fork.state(), fork.millis(), packed));
    insertRow(context, fork.state().owner(), block);
    artifactHeads.insertAll(context.number, fork.state().artifacts());
    shares.insert(context, fork.shares());
  }

  private void insertRow(LiveContext context, String owner, long block) throws SQLException {
    insertContext.setLong(1, context.number);
    insertContext.setString(2, context.id.value());
    insertContext.setString(3, owner);
    insertContext.setBytes(4, Secrets.bytes(context.ids));
    insertContext.setLong(5, block);
    insertContext.executeUpdate();
  }

  void insertKey(LiveContext context, Ticket.NewKey key) throws SQLException {
    insertKey.setLong(1, context.number);
    insertKey.setString(2, key.once().principal());
    insertKey.setString(3, key.once().key());
    insertKey.setString(4, key.once().bodyHash());
    insertKey.setLong(5, Positions.pack(key.appended().first()));
    insertKey.setLong(6, Positions.pack(key.appended().last()));
    insertKey.executeUpdate();
  }

  /// Moves a context's unsealed entries into segments, with its state at the last of them. Every
  /// `stateEvents` events or so, that state is kept for good.
  void seal(LiveContext context, int stateEvents) throws SQLException {
    var slots = context.window.after(context.sealedTo, Integer.MAX_VALUE);
    var before = context.sealedTo;
    for (var from = 0; from < slots.size(); from += SEGMENT_EVENTS) {
      var part = slots.subList(from, Math.min(slots.size(), from + SEGMENT_EVENTS));
      var last = part.getLast().entry().position();
      insertSegment.setLong(1, context.number);
      insertSegment.setLong(2, Positions.pack(last));
      insertSegment.setBytes(3, packed.pack(ChunkWriter.chunk(before, part)));
      insertSegment.executeUpdate();
      before = last;
    }
    sealContext.setLong(1, Positions.pack(before));
    byte[] kept = null;
    ArtifactHeadTable.Changes heads;
    context.lock.lock();
    try {
      var state = context.durable();
      var millis = context.durableMillis();
      heads = context.unsavedHeads();
      if (before.seq() / stateEvents > context.sealedTo.seq() / stateEvents) {
        kept = SavedState.save(state, millis);
      }
      sealContext.setBytes(2, SavedState.saveWithoutHeads(state, millis, packed));
      sealContext.setInt(3, state.openTasks().size());
    } finally {
      context.lock.unlock();
    }
    artifactHeads.save(context.number, heads);
    if (kept != null) {
      shares.insertState(context, before, kept);
    }
    sealContext.setLong(4, context.lastBlock);
    sealContext.setLong(5, context.number);
    sealContext.executeUpdate();
  }

  boolean hasBlock(long id) throws SQLException {
    return Database.number(connection, "SELECT count(*) FROM blocks WHERE id = " + id) > 0;
  }

  /// Removes a context's rows and leaves its tombstone, as a transaction of its own.
  void eraseRows(LiveContext context, long mark, List<Long> emptied) throws SQLException {
    Database.execute(connection, "PRAGMA secure_delete = ON");
    try {
      for (var id : blockIds()) {
        rewriteBlock(id, context.number);
      }
      deleteBlocks(emptied);
      tombstone(context, mark);
      connection.commit();
    } finally {
      Database.execute(connection, "PRAGMA secure_delete = FAST");
    }
  }

  /// Free pages may still hold blocks that were sealed earlier: takes them all, as zeros, and lets go.
  void eraseFreePages() throws SQLException {
    var pages = Database.number(connection, "PRAGMA freelist_count");
    Database.execute(connection, "CREATE TABLE erasing (data BLOB)");
    for (var left = pages * PAGE_BYTES; left > 0; left -= ERASE_BYTES) {
      Database.execute(
          connection, "INSERT INTO erasing VALUES (zeroblob(" + Math.min(left, ERASE_BYTES) + "))");
    }
    Database.execute(connection, "DROP TABLE erasing");
    connection.commit();
  }

  private void tombstone(LiveContext context, long mark) throws SQLException {
    var number = context.number;
    shares.release(context);
    Database.execute(connection, "DELETE FROM keys WHERE context = " + number);
    artifactHeads.delete(number);
    Database.execute(
        connection,
        "UPDATE contexts SET secret = NULL, state = NULL, open_tasks = 0, deleted = 1, touched = "
            + (mark + " WHERE number = " + number));
    var deletion = context.deletion;
    if (deletion != null) {
      try (var update =
          connection.prepareStatement(
              "UPDATE contexts SET deleted_by = ?, deleted_at = ? WHERE number = ?")) {
        update.setString(1, deletion.principal());
        update.setLong(2, deletion.atMillis());
        update.setLong(3, number);
        update.executeUpdate();
      }
    }
  }

  boolean isErased(LiveContext context) throws SQLException {
    return Database.number(
            connection, "SELECT deleted FROM contexts WHERE number = " + context.number)
        != 0;
  }

  /// All of them: a block may still hold what was sealed since.
  private List<Long> blockIds() throws SQLException {
    var ids = new ArrayList<Long>();
    try (var select = connection.prepareStatement("SELECT id FROM blocks");
        var rows = select.executeQuery()) {
      while (rows.next()) {
        ids.add(rows.getLong(1));
      }
    }
    return ids;
  }

  private void rewriteBlock(long id, long number) throws SQLException {
    try (var select = connection.prepareStatement("SELECT data FROM blocks WHERE id = ?");
        var update = connection.prepareStatement("UPDATE blocks SET data = ? WHERE id = ?")) {
      select.setLong(1, id);
      byte[] data;
      try (var rows = select.executeQuery()) {
        if (!rows.next()) {
          return;
        }
        data = rows.getBytes(1);
      }
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
      if (kept.size() == data.length) {
        return;
      }
      if (kept.size() == 0) {
        deleteBlocks(List.of(id));
        return;
      }
      update.setBytes(1, kept.toArray());
      update.setLong(2, id);
      update.executeUpdate();
    }
  }

  void commit() throws SQLException {
    connection.commit();
  }

  /// Puts the write-ahead log back into the database and starts it anew, if no reader is in the way.
  void restartWal() throws SQLException {
    var _ = checkpoint("RESTART");
  }

  /// Empties the write-ahead log. False if a reader is in the way.
  boolean truncateWal() throws SQLException {
    return checkpoint("TRUNCATE");
  }

  private boolean checkpoint(String mode) throws SQLException {
    connection.commit();
    connection.setAutoCommit(true);
    try {
      // The writer waits for no reader: it comes back later.
      Database.execute(connection, "PRAGMA busy_timeout = 0");
      return Database.number(connection, "PRAGMA wal_checkpoint(" + mode + ")") == 0;
    } finally {
      Database.execute(connection, "PRAGMA busy_timeout = " + Database.BUSY_MILLIS);
      connection.setAutoCommit(false);
    }
  }

  @Override
  public void close() throws SQLException {
    packed.close();
    connection.close();
  }
}
