package dev.parley.log;

import dev.parley.log.CachedContext.ContextStatus;
import dev.parley.log.CachedContext.KeyName;
import dev.parley.log.CachedContext.StoredKey;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Position;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/// Loads contexts, blocks and segments from the store.
final class ContextLoader {

  private static final Logger LOG = System.getLogger(ContextLoader.class.getName());
  private static final String COLUMNS = "number, id, secret, sealed, state, touched, deleted";

  private static final int ROOM_MAX = 8_192;

  private ContextLoader() {}

  /// The context with this id; `ABSENT` if there is none.
  static CachedContext load(Connection connection, ContextId id, MemoryLimiters memory)
      throws SQLException {
    try (var select =
        connection.prepareStatement("SELECT " + COLUMNS + " FROM contexts WHERE id = ?")) {
      select.setString(1, id.value());
      return loadOne(connection, select, id, memory);
    }
  }

  /// The context with this id, whose row or state cannot be read. It can only be deleted.
  static CachedContext loadDamaged(Connection connection, ContextId id, MemoryLimiters memory)
      throws SQLException {
    try (var select = connection.prepareStatement("SELECT number FROM contexts WHERE id = ?")) {
      select.setString(1, id.value());
      try (var rows = select.executeQuery()) {
        var found = rows.next();
        var context =
            new CachedContext(id, found ? ContextStatus.DAMAGED : ContextStatus.ABSENT, memory);
        context.number = found ? rows.getLong(1) : 0;
        return context;
      }
    }
  }

  /// The owner of the context with this id when it was created.
  static Optional<String> owner(Connection connection, ContextId id) throws SQLException {
    try (var select = connection.prepareStatement("SELECT owner FROM contexts WHERE id = ?")) {
      select.setString(1, id.value());
      try (var rows = select.executeQuery()) {
        return rows.next() ? Optional.of(rows.getString(1)) : Optional.empty();
      }
    }
  }

  /// Loads all contexts with unsealed entries, and these entries.
  static void loadUnsealed(
      Connection connection, UnsealedBlocks unsealedBlocks, MemoryLimiters memory)
      throws SQLException {
    Map<Long, CachedContext> found = new HashMap<>();
    try (var select = connection.prepareStatement("SELECT id, data FROM blocks ORDER BY id");
        var rows = select.executeQuery()) {
      while (rows.next()) {
        var block = rows.getLong(1);
        var data = rows.getBytes(2);
        var in = new ByteSource(data);
        while (in.hasMore()) {
          var number = in.number();
          var context = found.get(number);
          if (context == null) {
            context = loadNumber(connection, number, memory);
            found.put(number, context);
          }
          var stored = new StoredChunk(block, data.length, in.block());
          switch (context.status) {
            case PRESENT -> loadChunk(stored, context, unsealedBlocks, memory);
            case DAMAGED -> unsealedBlocks.keepUnreadable(block, data.length, context);
            case ABSENT, DELETED -> unsealedBlocks.addStale(block, number);
          }
        }
        unsealedBlocks.loaded(block, data.length);
      }
    }
    for (var context : found.values()) {
      if (context.unsealedCount == 0) {
        context.dropped(); // All of it is in segments; it is loaded again on demand.
      }
    }
    for (var context : unsealedBlocks.contexts()) {
      if (context.status == ContextStatus.PRESENT) {
        try {
          context.rollBack();
        } catch (RuntimeException unreadable) {
          markDamaged(context, unreadable);
          unsealedBlocks.exclude(List.of(context));
        }
      }
    }
  }

  /// The chunk of one context in a block.
  @SuppressWarnings("ArrayRecordComponent") // Never compared.
  private record StoredChunk(long block, int blockBytes, byte[] data) {}

  /// A block may outlive the sealing of some of its contexts; sealed entries are not loaded twice.
  private static void loadChunk(
      StoredChunk chunk,
      CachedContext context,
      UnsealedBlocks unsealedBlocks,
      MemoryLimiters memory) {
    try {
      var slots = ChunkReader.entries(context.id, context.ids, chunk.data());
      if (slots.getLast().entry().position().after(context.sealedTo)) {
        memory.windows().add(context, slots);
        unsealedBlocks.add(
            chunk.block(),
            chunk.blockBytes(),
            context,
            UnsealedBlocks.ChunkSize.of(chunk.data(), slots));
      } else {
        unsealedBlocks.addStale(chunk.block(), context.number);
      }
    } catch (RuntimeException unreadable) {
      markDamaged(context, unreadable);
      unsealedBlocks.keepUnreadable(chunk.block(), chunk.blockBytes(), context);
    }
  }

  private static void markDamaged(CachedContext context, RuntimeException unreadable) {
    LOG.log(Level.ERROR, "context " + context.id + " cannot be read", unreadable);
    context.status = ContextStatus.DAMAGED;
  }

  /// Up to about `limit` entries of segments after `after`, and at least one segment.
  static List<StoredEntry> readSegments(
      Connection connection, CachedContext context, Position after, int limit) throws SQLException {
    var slots = new ArrayList<StoredEntry>(Math.min(limit, ROOM_MAX));
    try (var chunkPacker = new ChunkPacker();
        var select =
            connection.prepareStatement(
                "SELECT data FROM segments WHERE context = ? AND last > ? ORDER BY last")) {
      for (var stretch : ranges(context)) {
        if (slots.size() < limit && stretch.last().after(after)) {
          select.setLong(1, stretch.number());
          select.setLong(2, PositionCodec.packCursor(after));
          try (var rows = select.executeQuery()) {
            readRange(rows, chunkPacker, new RangeQuery(context.id, stretch, after, limit), slots);
          }
        }
      }
    }
    return slots;
  }

  /// The ranges that a context shares, then its own segments.
  private static List<SharedRange> ranges(CachedContext context) {
    var stretches = new ArrayList<>(context.sharedRanges);
    stretches.add(
        new SharedRange(
            context.number, context.ids, new Position(Long.MAX_VALUE, Integer.MAX_VALUE)));
    return stretches;
  }

  private record RangeQuery(ContextId id, SharedRange range, Position after, int limit) {
    boolean includes(StoredEntry storedEntry) {
      var position = storedEntry.entry().position();
      return position.after(after) && !position.after(range.last());
    }
  }

  private static void readRange(
      ResultSet rows, ChunkPacker chunkPacker, RangeQuery rangeQuery, List<StoredEntry> slots)
      throws SQLException {
    while (slots.size() < rangeQuery.limit() && rows.next()) {
      var chunk = chunkPacker.unpack(rows.getBytes(1));
      var read = ChunkReader.entries(rangeQuery.id(), rangeQuery.range().ids(), chunk);
      for (var storedEntry : read) {
        if (rangeQuery.includes(storedEntry)) {
          slots.add(storedEntry);
        }
      }
      if (read.getLast().entry().position().after(rangeQuery.range().last())) {
        return;
      }
    }
  }

  private static CachedContext loadNumber(Connection connection, long number, MemoryLimiters memory)
      throws SQLException {
    try (var select =
        connection.prepareStatement("SELECT " + COLUMNS + " FROM contexts WHERE number = ?")) {
      select.setLong(1, number);
      return loadOne(connection, select, new ContextId("unknown"), memory);
    } catch (RuntimeException unreadable) {
      return markDamaged(connection, number, memory, unreadable);
    }
  }

  private static CachedContext markDamaged(
      Connection connection, long number, MemoryLimiters memory, RuntimeException unreadable)
      throws SQLException {
    try (var select = connection.prepareStatement("SELECT id FROM contexts WHERE number = ?")) {
      select.setLong(1, number);
      try (var rows = select.executeQuery()) {
        var id = new ContextId(rows.next() ? rows.getString(1) : "unknown");
        var context = new CachedContext(id, ContextStatus.DAMAGED, memory);
        context.number = number;
        markDamaged(context, unreadable);
        return context;
      }
    }
  }

  private static CachedContext loadOne(
      Connection connection, PreparedStatement select, ContextId unknown, MemoryLimiters memory)
      throws SQLException {
    try (var rows = select.executeQuery()) {
      if (!rows.next()) {
        return new CachedContext(unknown, ContextStatus.ABSENT, memory);
      }
      var id = new ContextId(rows.getString("id"));
      var deleted = rows.getInt("deleted") != 0;
      var context =
          new CachedContext(id, deleted ? ContextStatus.DELETED : ContextStatus.PRESENT, memory);
      context.number = rows.getLong("number");
      context.lastBlock = rows.getLong("touched");
      if (deleted) {
        return context;
      }
      context.ids = EventIdSecret.read(rows.getBytes("secret"));
      context.sealedTo = PositionCodec.unpack(rows.getLong("sealed"));
      context.updateWindow(_ -> EntryWindow.empty(context.sealedTo));
      var saved = rows.getBytes("state");
      if (saved != null) {
        var state = SavedState.readStored(saved);
        context.folded = state.restore();
        context.allHeadsUnsaved = !state.artifacts().isEmpty();
        ArtifactHeadTable.load(connection, context.number, context.folded.artifacts());
        context.state = context.folded.copy();
        context.foldedMillis = state.lastMillis();
        context.lastMillis = state.lastMillis();
      }
      loadKeys(connection, context, memory.keys().contextMax());
      loadShares(connection, context);
      return context;
    }
  }

  /// Loads the idempotency keys, unless there are very many.
  private static void loadKeys(Connection connection, CachedContext context, int max)
      throws SQLException {
    try (var select =
        connection.prepareStatement(
            "SELECT principal, key, hash, first, last FROM keys WHERE context = ? LIMIT ?")) {
      select.setLong(1, context.number);
      select.setInt(2, max + 1);
      try (var rows = select.executeQuery()) {
        Map<KeyName, StoredKey> stored = new HashMap<>();
        while (rows.next()) {
          stored.put(new KeyName(rows.getString(1), rows.getString(2)), key(rows));
        }
        context.keys.load(stored);
      }
    }
  }

  /// The earlier use of an idempotency key, if any.
  static Optional<StoredKey> findKey(Connection connection, CachedContext context, KeyName name)
      throws SQLException {
    try (var select =
        connection.prepareStatement(
            "SELECT principal, key, hash, first, last FROM keys"
                + " WHERE context = ? AND principal = ? AND key = ?")) {
      select.setLong(1, context.number);
      select.setString(2, name.principal());
      select.setString(3, name.key());
      try (var rows = select.executeQuery()) {
        return rows.next() ? Optional.of(key(rows)) : Optional.empty();
      }
    }
  }

  private static StoredKey key(ResultSet rows) throws SQLException {
    return new StoredKey(
        rows.getString(3),
        new AppendResult(
            PositionCodec.unpack(rows.getLong(4)), PositionCodec.unpack(rows.getLong(5)), true));
  }

  private static void loadShares(Connection connection, CachedContext context) throws SQLException {
    try (var select =
        connection.prepareStatement(
            "SELECT source, secret, last FROM shares WHERE context = ? ORDER BY last")) {
      select.setLong(1, context.number);
      try (var rows = select.executeQuery()) {
        var shares = new ArrayList<SharedRange>();
        while (rows.next()) {
          shares.add(
              new SharedRange(
                  rows.getLong(1),
                  EventIdSecret.read(rows.getBytes(2)),
                  PositionCodec.unpack(rows.getLong(3))));
        }
        context.sharedRanges = List.copyOf(shares);
      }
    }
  }
}
