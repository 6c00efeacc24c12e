package dev.parley.log;

import dev.parley.log.CachedContext.ContextStatus;
import dev.parley.log.IdempotencyKeyCache.KeyName;
import dev.parley.log.IdempotencyKeyCache.StoredKey;
import dev.parley.log.SimulatedDatabase.Session;
import dev.parley.log.SimulatedRows.ContextData;
import dev.parley.log.SimulatedRows.KeyData;
import dev.parley.log.SimulatedRows.ShareData;
import dev.parley.log.SimulatedTables.RowKey;
import dev.parley.log.SimulatedTables.Table;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Position;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/// Reads a simulated database: what the statements of [TableReader] do, each of them for itself.
final class SimulatedReader implements BlockStore.StoreReader {

  private final Session session;

  SimulatedReader(Session session) {
    this.session = session;
  }

  private Optional<ContextData> find(Predicate<ContextData> condition) throws SQLException {
    return session.query(
        tables -> tables.values(ContextData.class, Table.CONTEXTS).filter(condition).findFirst());
  }

  @Override
  public CachedContext load(ContextId id, MemoryLimiters memory) throws SQLException {
    return load(find(row -> row.id().equals(id.value())), id, memory);
  }

  /// The context with this number.
  CachedContext load(long number, MemoryLimiters memory) throws SQLException {
    return load(find(row -> row.number() == number), new ContextId("unknown"), memory);
  }

  private CachedContext load(Optional<ContextData> found, ContextId unknown, MemoryLimiters memory)
      throws SQLException {
    if (found.isEmpty()) {
      return new CachedContext(unknown, ContextStatus.ABSENT, memory);
    }
    var row = found.get();
    var id = new ContextId(row.id());
    var context =
        new CachedContext(
            id, row.deleted() ? ContextStatus.DELETED : ContextStatus.PRESENT, memory);
    context.number = row.number();
    context.lastBlock = row.touched();
    if (row.deleted()) {
      return context;
    }
    context.ids = EventIdGenerator.read(Objects.requireNonNull(row.secret()));
    context.sealedTo = PositionCodec.unpack(row.sealed());
    context.updateWindow(_ -> EntryWindow.empty(context.sealedTo));
    if (row.state() != null) {
      var state = SavedState.read(row.state());
      context.folded = state.restore();
      context.state = context.folded.copy();
      context.foldedMillis = state.lastMillis();
      context.lastMillis = state.lastMillis();
    }
    context.keys.load(keys(row.number(), memory.keys().contextMax()));
    context.sharedRanges = shares(row.number());
    return context;
  }

  private Map<KeyName, StoredKey> keys(long number, int max) throws SQLException {
    var stored = new HashMap<KeyName, StoredKey>();
    session
        .query(
            tables ->
                tables.of(Table.KEYS, number).values().stream()
                    .limit(max + 1)
                    .map(KeyData.class::cast)
                    .toList())
        .forEach(row -> stored.put(new KeyName(row.principal(), row.key()), stored(row)));
    return stored;
  }

  private static StoredKey stored(KeyData row) {
    return new StoredKey(
        row.hash(),
        new AppendResult(
            PositionCodec.unpack(row.first()), PositionCodec.unpack(row.last()), true));
  }

  private List<SharedRange> shares(long number) throws SQLException {
    return session.query(tables -> List.copyOf(tables.of(Table.SHARES, number).values())).stream()
        .map(ShareData.class::cast)
        .map(
            row ->
                new SharedRange(
                    row.source(),
                    EventIdGenerator.read(row.secret()),
                    PositionCodec.unpack(row.last())))
        .toList();
  }

  @Override
  public CachedContext loadDamaged(ContextId id, MemoryLimiters memory) throws SQLException {
    var found = find(row -> row.id().equals(id.value()));
    var context =
        new CachedContext(
            id, found.isEmpty() ? ContextStatus.ABSENT : ContextStatus.DAMAGED, memory);
    context.number = found.map(ContextData::number).orElse(0L);
    return context;
  }

  @Override
  public Optional<String> owner(ContextId id) throws SQLException {
    return find(row -> row.id().equals(id.value())).map(ContextData::owner);
  }

  @Override
  public boolean isDeleted(long number) throws SQLException {
    return find(row -> row.number() == number).map(ContextData::deleted).orElse(false);
  }

  @Override
  public Optional<StoredKey> findKey(CachedContext context, KeyName name) throws SQLException {
    return session.query(
        tables ->
            Optional.ofNullable(
                    tables.get(
                        KeyData.class,
                        SimulatedRows.key(context.number, name.principal(), name.key())))
                .map(SimulatedReader::stored));
  }

  @Override
  public List<StoredEntry> readSegments(CachedContext context, Position after, int limit)
      throws SQLException {
    var found = new ArrayList<StoredEntry>();
    var ranges = new ArrayList<>(context.sharedRanges);
    ranges.add(
        new SharedRange(
            context.number, context.ids, new Position(Long.MAX_VALUE, Integer.MAX_VALUE)));
    for (var range : ranges) {
      if (found.size() < limit && range.last().after(after)) {
        readRange(context, range, after, limit, found);
      }
    }
    return found;
  }

  private void readRange(
      CachedContext context, SharedRange range, Position after, int limit, List<StoredEntry> found)
      throws SQLException {
    var first = RowKey.of(Table.SEGMENTS, range.number(), PositionCodec.packCursor(after) + 1);
    var chunks =
        session.query(
            tables ->
                List.copyOf(
                    tables.of(Table.SEGMENTS, range.number()).tailMap(first, true).values()));
    for (var chunk : chunks) {
      var entries =
          ChunkReader.entries(context.id, range.ids(), (byte[]) chunk, after, limit - found.size());
      for (var entry : entries) {
        if (entry.last().after(range.last())) {
          return;
        }
        found.add(entry);
      }
      if (found.size() >= limit) {
        return;
      }
    }
  }

  @Override
  public Optional<SavedState> stateBefore(CachedContext context, long atSeq) throws SQLException {
    var last = new Position(atSeq, PositionCodec.K_MAX);
    var found = stateBefore(context.number, last);
    for (var range : context.sharedRanges.reversed()) {
      if (found == null) {
        found = stateBefore(range.number(), last.after(range.last()) ? range.last() : last);
      }
    }
    return Optional.ofNullable(found).map(SavedState::read);
  }

  private byte @Nullable [] stateBefore(long number, Position last) throws SQLException {
    return session
        .query(
            tables ->
                Optional.ofNullable(
                    tables
                        .of(Table.STATES, number)
                        .floorEntry(RowKey.of(Table.STATES, number, PositionCodec.pack(last)))))
        .map(entry -> (byte[]) entry.getValue())
        .orElse(null);
  }

  @Override
  public List<ContextId> withOpenTasks() throws SQLException {
    return session.query(
        tables ->
            tables
                .values(ContextData.class, Table.CONTEXTS)
                .filter(row -> row.openTasks() > 0)
                .map(row -> new ContextId(row.id()))
                .toList());
  }

  @Override
  public BlockStore.SealedChanges changes(long first, long last, int limit) throws SQLException {
    return session.query(
        tables -> {
          var rows =
              tables
                  .values(ContextData.class, Table.CONTEXTS)
                  .filter(row -> row.touched() > first && row.touched() <= last)
                  .toList();
          var complete =
              rows.stream()
                  .map(ContextData::touched)
                  .sorted()
                  .skip(limit - 1L)
                  .findFirst()
                  .orElse(last);
          var blocks = new HashMap<ContextId, Long>();
          rows.stream()
              .filter(row -> row.touched() <= complete)
              .forEach(row -> blocks.put(new ContextId(row.id()), row.touched()));
          return new BlockStore.SealedChanges(blocks, complete);
        });
  }

  @Override
  public long lastSealedBlock() throws SQLException {
    return session.query(
        tables -> {
          var blocks = tables.all(Table.BLOCKS);
          return blocks.isEmpty() ? lastTouched(tables) : blocks.firstKey().first() - 1;
        });
  }

  private static long lastTouched(SimulatedTables tables) {
    return tables
        .values(ContextData.class, Table.CONTEXTS)
        .mapToLong(ContextData::touched)
        .max()
        .orElse(0);
  }

  /// The highest number of a block or of another change, or 0.
  long lastBlock() throws SQLException {
    return session.query(tables -> Math.max(tables.last(Table.BLOCKS), lastTouched(tables)));
  }

  @Override
  public long countChanges(long mark) throws SQLException {
    return session.query(
        tables ->
            tables
                .values(ContextData.class, Table.CONTEXTS)
                .filter(row -> row.touched() > mark)
                .count());
  }

  @Override
  public void close() {
    session.close();
  }
}
