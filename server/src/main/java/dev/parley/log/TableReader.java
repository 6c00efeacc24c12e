package dev.parley.log;

import dev.parley.encryption.ContentCipher;
import dev.parley.log.CachedContext.ContextStatus;
import dev.parley.log.IdempotencyKeyCache.KeyName;
import dev.parley.log.IdempotencyKeyCache.StoredKey;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Position;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/// Reads the tables of a log through one connection. The statements are the same for all databases.
final class TableReader implements BlockStore.StoreReader {

  private static final String COLUMNS =
      "number, id, secret, sealed, state, touched, deleted, data_key";

  private static final int ROOM_MAX = 8_192;

  /// How many blocks are in memory at once while they are loaded, if the driver supports it.
  private static final int BLOCKS_AT_ONCE = 16;

  /// A segment has a few hundred entries, so these are enough for most pages.
  private static final int SEGMENTS_AT_ONCE = 8;

  private final Connection connection;
  private final LogEncryption encryption;
  private final ChunkPacker chunkPacker = new ChunkPacker();

  TableReader(Connection connection, LogEncryption encryption) {
    this.connection = connection;
    this.encryption = encryption;
  }

  @Override
  public CachedContext load(ContextId id, MemoryLimiters memory) throws SQLException {
    try (var select =
        connection.prepareStatement("SELECT " + COLUMNS + " FROM contexts WHERE id = ?")) {
      select.setString(1, id.value());
      return loadOne(select, id, memory);
    }
  }

  @Override
  public CachedContext loadDamaged(ContextId id, MemoryLimiters memory) throws SQLException {
    var number =
        Jdbc.list(
            connection,
            "SELECT number FROM contexts WHERE id = ?",
            row -> row.getLong(1),
            id.value());
    var status = number.isEmpty() ? ContextStatus.ABSENT : ContextStatus.DAMAGED;
    var context = new CachedContext(id, status, memory);
    context.number = number.isEmpty() ? 0 : number.getFirst();
    return context;
  }

  @Override
  public Optional<String> owner(ContextId id) throws SQLException {
    return Jdbc.list(
            connection,
            "SELECT owner FROM contexts WHERE id = ?",
            row -> row.getString(1),
            id.value())
        .stream()
        .findFirst();
  }

  @Override
  public boolean isDeleted(long number) throws SQLException {
    return Jdbc.number(connection, "SELECT deleted FROM contexts WHERE number = " + number) != 0;
  }

  /// Loads all contexts with unsealed entries, and these entries.
  void loadUnsealed(UnsealedBlocks unsealedBlocks, MemoryLimiters memory) throws SQLException {
    var loader = new UnsealedLoader(number -> loadNumber(number, memory), unsealedBlocks, memory);
    try (var select = connection.prepareStatement("SELECT id, data FROM blocks ORDER BY id")) {
      select.setFetchSize(BLOCKS_AT_ONCE);
      try (var rows = select.executeQuery()) {
        while (rows.next()) {
          loader.load(rows.getLong(1), rows.getBytes(2));
        }
      }
    }
    loader.finish();
  }

  @Override
  public List<StoredEntry> readSegments(CachedContext context, Position after, int limit)
      throws SQLException {
    var slots = new ArrayList<StoredEntry>(Math.min(limit, ROOM_MAX));
    try (var select =
        connection.prepareStatement(
            "SELECT last, data FROM segments WHERE context = ? AND last > ? ORDER BY last LIMIT "
                + SEGMENTS_AT_ONCE)) {
      for (var stretch : ranges(context)) {
        if (slots.size() < limit && stretch.last().after(after)) {
          select.setLong(1, stretch.number());
          readRange(select, new RangeQuery(context.id, stretch, after, limit), slots);
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
            context.number,
            context.ids,
            context.cipher,
            new Position(Long.MAX_VALUE, Integer.MAX_VALUE)));
    return stretches;
  }

  private record RangeQuery(ContextId id, SharedRange range, Position after, int limit) {}

  /// Reads a few segments at a time: the driver of PostgreSQL loads all rows of a query at once.
  private void readRange(PreparedStatement select, RangeQuery rangeQuery, List<StoredEntry> slots)
      throws SQLException {
    var end = PositionCodec.packCursor(rangeQuery.range().last());
    var after = PositionCodec.packCursor(rangeQuery.after());
    var count = SEGMENTS_AT_ONCE;
    while (count == SEGMENTS_AT_ONCE && after < end && slots.size() < rangeQuery.limit()) {
      select.setLong(2, after);
      count = 0;
      try (var rows = select.executeQuery()) {
        while (slots.size() < rangeQuery.limit() && rows.next()) {
          count++;
          after = rows.getLong(1);
          var range = rangeQuery.range();
          var place = StoredValue.segment(range.number(), after);
          addEntries(range.cipher().decrypt(rows.getBytes(2), place), rangeQuery, slots);
        }
      }
    }
  }

  private void addEntries(byte[] segment, RangeQuery rangeQuery, List<StoredEntry> slots) {
    var read =
        ChunkReader.entries(
            rangeQuery.id(),
            rangeQuery.range().ids(),
            chunkPacker.unpack(segment),
            rangeQuery.after(),
            rangeQuery.limit() - slots.size());
    for (var storedEntry : read) {
      if (storedEntry.last().after(rangeQuery.range().last())) {
        return;
      }
      slots.add(storedEntry);
    }
  }

  private CachedContext loadNumber(long number, MemoryLimiters memory) throws SQLException {
    try (var select =
        connection.prepareStatement("SELECT " + COLUMNS + " FROM contexts WHERE number = ?")) {
      select.setLong(1, number);
      return loadOne(select, new ContextId("unknown"), memory);
    } catch (RuntimeException unreadable) {
      return markDamaged(number, memory, unreadable);
    }
  }

  private CachedContext markDamaged(long number, MemoryLimiters memory, RuntimeException unreadable)
      throws SQLException {
    var ids =
        Jdbc.list(
            connection,
            "SELECT id FROM contexts WHERE number = ?",
            row -> row.getString(1),
            number);
    var id = new ContextId(ids.isEmpty() ? "unknown" : ids.getFirst());
    var context = new CachedContext(id, ContextStatus.DAMAGED, memory);
    context.number = number;
    UnsealedLoader.markDamaged(context, unreadable);
    return context;
  }

  private CachedContext loadOne(PreparedStatement select, ContextId unknown, MemoryLimiters memory)
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
      context.ids = EventIdGenerator.read(rows.getBytes("secret"));
      context.sealedTo = PositionCodec.unpack(rows.getLong("sealed"));
      context.updateWindow(_ -> EntryWindow.empty(context.sealedTo));
      context.cipher = encryption.cipher(connection, rows.getBytes("data_key"), context.number, id);
      var saved = rows.getBytes("state");
      if (saved != null) {
        var place = StoredValue.state(context.number, context.sealedTo);
        var state = SavedState.readStored(context.cipher.decrypt(saved, place));
        context.folded = state.restore();
        context.allHeadsUnsaved = !state.artifacts().isEmpty();
        ArtifactHeadTable.load(connection, context, context.folded.artifacts());
        context.state = context.folded.copy();
        context.foldedMillis = state.lastMillis();
        context.lastMillis = state.lastMillis();
      }
      loadKeys(context, memory.keys().contextMax());
      loadShares(context);
      return context;
    }
  }

  /// Loads the idempotency keys, unless there are very many.
  private void loadKeys(CachedContext context, int max) throws SQLException {
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

  @Override
  public Optional<StoredKey> findKey(CachedContext context, KeyName name) throws SQLException {
    return Jdbc.list(
            connection,
            "SELECT principal, key, hash, first, last FROM keys"
                + " WHERE context = ? AND principal = ? AND key = ?",
            TableReader::key,
            context.number,
            name.principal(),
            name.key())
        .stream()
        .findFirst();
  }

  private static StoredKey key(ResultSet rows) throws SQLException {
    return new StoredKey(
        rows.getString(3),
        new AppendResult(
            PositionCodec.unpack(rows.getLong(4)), PositionCodec.unpack(rows.getLong(5)), true));
  }

  private void loadShares(CachedContext context) throws SQLException {
    context.sharedRanges =
        List.copyOf(
            Jdbc.list(
                connection,
                "SELECT source, secret, last FROM shares WHERE context = ? ORDER BY last",
                row ->
                    new SharedRange(
                        row.getLong(1),
                        EventIdGenerator.read(row.getBytes(2)),
                        encryption.cipher(connection, row.getLong(1)),
                        PositionCodec.unpack(row.getLong(3))),
                context.number));
  }

  @Override
  public Optional<SavedState> stateBefore(CachedContext context, long atSeq) throws SQLException {
    var last = new Position(atSeq, PositionCodec.K_MAX);
    var found = stateBefore(context.number, context.cipher, last);
    for (var sharedRange : context.sharedRanges.reversed()) {
      if (found.isEmpty()) {
        found =
            stateBefore(
                sharedRange.number(),
                sharedRange.cipher(),
                last.after(sharedRange.last()) ? sharedRange.last() : last);
      }
    }
    return found;
  }

  private Optional<SavedState> stateBefore(long number, ContentCipher cipher, Position last)
      throws SQLException {
    return Jdbc.list(
            connection,
            "SELECT data, last FROM states WHERE context = ? AND last <= ?"
                + " ORDER BY last DESC LIMIT 1",
            row ->
                SavedState.read(
                    chunkPacker.unpack(
                        cipher.decrypt(
                            row.getBytes(1), StoredValue.keptState(number, row.getLong(2))))),
            number,
            PositionCodec.pack(last))
        .stream()
        .findFirst();
  }

  @Override
  public List<ContextId> withOpenTasks() throws SQLException {
    return Jdbc.list(
        connection,
        "SELECT id FROM contexts WHERE open_tasks > 0",
        row -> new ContextId(row.getString(1)));
  }

  @Override
  public BlockStore.SealedChanges changes(long first, long last, int limit) throws SQLException {
    var complete = endOfPage(first, last, limit);
    var touched = new HashMap<ContextId, Long>();
    Jdbc.list(
            connection,
            "SELECT id, touched FROM contexts WHERE touched > ? AND touched <= ?",
            row -> Map.entry(new ContextId(row.getString(1)), row.getLong(2)),
            first,
            complete)
        .forEach(context -> touched.put(context.getKey(), context.getValue()));
    return new BlockStore.SealedChanges(touched, complete);
  }

  @Override
  public long lastSealedBlock() throws SQLException {
    // One statement, so that a block that is written meanwhile is not overlooked.
    return Jdbc.number(
        connection,
        "SELECT coalesce((SELECT min(id) - 1 FROM blocks),"
            + " (SELECT max(touched) FROM contexts), 0)");
  }

  @Override
  public BlockStore.KeyCounts countKeys() throws SQLException {
    return Jdbc.list(
            connection,
            "SELECT count(data_key), count(*), (SELECT count(*) FROM wrapping_keys)"
                + " FROM contexts WHERE deleted = 0",
            row ->
                new BlockStore.KeyCounts(
                    row.getLong(1), row.getLong(2) - row.getLong(1), row.getLong(3)))
        .getFirst();
  }

  @Override
  public long countChanges(long mark) throws SQLException {
    return Jdbc.list(
            connection,
            "SELECT count(*) FROM contexts WHERE touched > ?",
            row -> row.getLong(1),
            mark)
        .getFirst();
  }

  private long endOfPage(long first, long last, int limit) throws SQLException {
    var end =
        Jdbc.list(
            connection,
            "SELECT touched FROM contexts WHERE touched > ? AND touched <= ?"
                + " ORDER BY touched LIMIT 1 OFFSET ?",
            row -> row.getLong(1),
            first,
            last,
            limit - 1);
    return end.isEmpty() ? last : end.getFirst();
  }

  @Override
  public void close() throws SQLException {
    chunkPacker.close();
    connection.close();
  }
}
