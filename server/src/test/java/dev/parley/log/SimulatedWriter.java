package dev.parley.log;

import dev.parley.log.BlockStore.ErasedSlice;
import dev.parley.log.BlockStore.ErasureSlice;
import dev.parley.log.BlockStore.LogCommit;
import dev.parley.log.SimulatedDatabase.Protection;
import dev.parley.log.SimulatedDatabase.Session;
import dev.parley.log.SimulatedDatabase.TransactionBody;
import dev.parley.log.SimulatedRows.ContextData;
import dev.parley.log.SimulatedRows.KeyData;
import dev.parley.log.SimulatedRows.ShareData;
import dev.parley.log.SimulatedTables.RowChange;
import dev.parley.log.SimulatedTables.RowKey;
import dev.parley.log.SimulatedTables.Table;
import dev.parley.protocol.ContextEvent.ContextCreated;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/// Writes a simulated database: what the statements of [PostgresWriter] and [TableWriter] do.
final class SimulatedWriter implements BlockStore.StoreWriter {

  private final Session session;
  private final SimulatedReader reader;
  private final long node;
  private final long epoch;
  private final int stateEvents;

  SimulatedWriter(Session session, long node, long epoch, int stateEvents) {
    this.session = session;
    this.reader = new SimulatedReader(session);
    this.node = node;
    this.epoch = epoch;
    this.stateEvents = stateEvents;
  }

  @Override
  public void loadUnsealed(UnsealedBlocks unsealedBlocks, MemoryLimiters memory)
      throws SQLException {
    var blocks = session.query(tables -> new TreeMap<>(tables.all(Table.BLOCKS)));
    var loader = new UnsealedLoader(number -> reader.load(number, memory), unsealedBlocks, memory);
    for (var block : blocks.entrySet()) {
      loader.load(block.getKey().first(), (byte[]) block.getValue());
    }
    loader.finish();
  }

  @Override
  public long lastNumber() throws SQLException {
    return session.query(tables -> tables.last(Table.CONTEXTS));
  }

  @Override
  public long lastBlock() throws SQLException {
    return reader.lastBlock();
  }

  private void checkEpoch(SimulatedTables tables) throws FencedException {
    if (SimulatedNodes.isFenced(session.database(), tables, node, epoch)) {
      throw new FencedException(node);
    }
  }

  /// A transaction of several statements, the first of which checks the epoch.
  private <T> T transaction(TransactionBody<T> body) throws SQLException {
    session.begin(
        Set.of(node),
        (tables, _) -> {
          checkEpoch(tables);
          return true;
        });
    return session.finish(body);
  }

  @Override
  public void write(LogCommit commit, byte[] block) throws SQLException {
    if (isOnlyBlock(commit)) {
      session.commit(
          Set.of(node),
          (tables, changes) -> {
            checkEpoch(tables);
            insert(tables, changes, SimulatedRows.block(commit.id()), block);
            return true;
          });
      return;
    }
    var inserts = newRows(commit);
    var sealings = commit.sealing().stream().map(this::seal).toList();
    transaction(
        (tables, changes) -> {
          insert(tables, changes, SimulatedRows.block(commit.id()), block);
          commit
              .deleting()
              .forEach(id -> changes.add(new RowChange(SimulatedRows.block(id), null)));
          for (var row : inserts) {
            insert(tables, changes, row.key(), Objects.requireNonNull(row.row()));
          }
          for (var sealing : sealings) {
            sealing.add(tables, changes);
          }
          return true;
        });
  }

  private static boolean isOnlyBlock(LogCommit commit) {
    return commit.deleting().isEmpty()
        && commit.sealing().isEmpty()
        && commit.appends().stream().noneMatch(TableWriter::hasRows);
  }

  /// Inserts a row, whose key must not be in use.
  private static void insert(
      SimulatedTables tables, List<RowChange> changes, RowKey key, Object row) throws SQLException {
    if (tables.get(key) != null) {
      throw new SQLException("duplicate key: " + key);
    }
    if (row instanceof ContextData data
        && tables
            .values(ContextData.class, Table.CONTEXTS)
            .anyMatch(other -> other.id().equals(data.id()))) {
      throw new SQLException("duplicate key: " + data.id());
    }
    changes.add(new RowChange(key, row));
  }

  private static List<RowChange> newRows(LogCommit commit) {
    var rows = new ArrayList<RowChange>();
    for (var append : commit.appends()) {
      var context = append.context();
      if (append.runs().getFirst() instanceof StoredEntry first
          && first.entry().event() instanceof ContextCreated created) {
        rows.add(context(context, created.owner(), 0, null, commit.id()));
      }
      var fork = append.fork();
      if (fork != null) {
        var state = SavedState.save(fork.state(), fork.millis());
        var sealed = PositionCodec.pack(fork.cut());
        rows.add(context(context, fork.state().owner(), sealed, state, commit.id()));
        for (var range : fork.sharedRanges()) {
          var last = PositionCodec.pack(range.last());
          rows.add(
              new RowChange(
                  RowKey.of(Table.SHARES, context.number, last),
                  new ShareData(range.number(), range.ids().bytes(), last)));
        }
      }
      var key = append.key();
      if (key != null) {
        rows.add(
            new RowChange(
                SimulatedRows.key(context.number, key.once().principal(), key.once().key()),
                new KeyData(
                    key.once().principal(),
                    key.once().key(),
                    key.once().bodyHash(),
                    PositionCodec.pack(key.appended().first()),
                    PositionCodec.pack(key.appended().last()))));
      }
    }
    return rows;
  }

  private static RowChange context(
      CachedContext context, String owner, long sealed, byte @Nullable [] state, long block) {
    return new RowChange(
        SimulatedRows.context(context.number),
        new ContextData(
            context.number,
            context.id.value(),
            owner,
            context.ids.bytes(),
            sealed,
            state,
            0,
            block,
            false));
  }

  /// What sealing a context writes.
  @SuppressWarnings("ArrayRecordComponent") // Never compared.
  private record Sealing(
      long number, List<RowChange> rows, long last, byte[] state, int openTasks, long block) {

    void add(SimulatedTables tables, List<RowChange> changes) throws SQLException {
      for (var row : rows) {
        insert(tables, changes, row.key(), Objects.requireNonNull(row.row()));
      }
      var key = SimulatedRows.context(number);
      var before = tables.get(ContextData.class, key);
      if (before != null) {
        changes.add(new RowChange(key, before.sealed(last, state, openTasks, block)));
      }
    }
  }

  private Sealing seal(CachedContext context) {
    var rows = new ArrayList<RowChange>();
    var before = context.sealedTo;
    for (var segment : TableWriter.segments(context.window.after(context.sealedTo))) {
      var last = segment.getLast().last();
      rows.add(
          new RowChange(
              SimulatedRows.segment(context.number, PositionCodec.pack(last)),
              ChunkWriter.chunk(before, segment)));
      before = last;
    }
    context.lock.lock();
    try {
      var state = SavedState.save(context.durableState(), context.durableMillis());
      if (before.seq() / stateEvents > context.sealedTo.seq() / stateEvents) {
        rows.add(
            new RowChange(
                RowKey.of(Table.STATES, context.number, PositionCodec.pack(before)), state));
      }
      return new Sealing(
          context.number,
          rows,
          PositionCodec.pack(before),
          state,
          context.durableState().openTasks().size(),
          context.lastBlock);
    } finally {
      context.lock.unlock();
    }
  }

  @Override
  public boolean hasCommit(long id) throws SQLException {
    return queryUnlessFenced(tables -> tables.get(SimulatedRows.block(id)) != null);
  }

  private boolean queryUnlessFenced(Predicate<SimulatedTables> query) throws SQLException {
    return session
        .query(
            tables ->
                session.database().has(Protection.FENCED_LOOKUP)
                        && SimulatedNodes.isFenced(session.database(), tables, node, epoch)
                    ? Optional.<Boolean>empty()
                    : Optional.of(query.test(tables)))
        .orElseThrow(() -> new FencedException(node));
  }

  @Override
  public boolean secureCommits() {
    return true;
  }

  @Override
  public void testWrite(long id, long bytes) throws SQLException {
    transaction(
        (tables, changes) -> {
          insert(tables, changes, SimulatedRows.block(id), new byte[0]);
          changes.add(new RowChange(SimulatedRows.block(id), null));
          return true;
        });
  }

  @Override
  public List<Long> pendingErasures() throws SQLException {
    return session.query(
        tables -> tables.all(Table.ERASURES).keySet().stream().map(RowKey::first).toList());
  }

  @Override
  public List<Long> beginErasing(CachedContext context, long mark) throws SQLException {
    return transaction(
        (tables, changes) -> {
          var numbers = new LinkedHashSet<>(List.of(context.number));
          for (var share : tables.of(Table.SHARES, context.number).entrySet()) {
            var source = ((ShareData) share.getValue()).source();
            var row = tables.get(ContextData.class, SimulatedRows.context(source));
            if (row != null && row.deleted()) {
              numbers.add(source);
            }
            changes.add(new RowChange(share.getKey(), null));
          }
          numbers.forEach(
              number -> changes.add(new RowChange(RowKey.of(Table.ERASURES, number), true)));
          var key = SimulatedRows.context(context.number);
          var row = tables.get(ContextData.class, key);
          if (row != null) {
            changes.add(new RowChange(key, row.erased(mark)));
          }
          return List.copyOf(numbers);
        });
  }

  @Override
  public boolean isErased(CachedContext context) throws SQLException {
    return queryUnlessFenced(
        tables -> {
          var row = tables.get(ContextData.class, SimulatedRows.context(context.number));
          return row != null && row.deleted();
        });
  }

  @Override
  public ErasedSlice erase(ErasureSlice slice) throws SQLException {
    return transaction(
        (tables, changes) -> {
          for (var block : slice.blocks().entrySet()) {
            var key = SimulatedRows.block(block.getKey());
            var data = tables.get(byte[].class, key);
            if (data != null) {
              var kept =
                  block.getValue() ? ErasureTable.without(data, slice.number()) : new byte[0];
              changes.add(new RowChange(key, kept.length == 0 ? null : kept));
            }
          }
          slice.numbers().forEach(number -> eraseRows(tables, changes, number));
          return new ErasedSlice(0, List.copyOf(slice.blocks().keySet()));
        });
  }

  /// Deletes the rows of a deleted context, except the segments that forks share.
  private static void eraseRows(SimulatedTables tables, List<RowChange> changes, long number) {
    tables.of(Table.KEYS, number).keySet().forEach(key -> changes.add(new RowChange(key, null)));
    var keep =
        tables
            .values(ShareData.class, Table.SHARES)
            .filter(share -> share.source() == number)
            .mapToLong(ShareData::last)
            .max()
            .orElse(0);
    for (var table : List.of(Table.STATES, Table.SEGMENTS)) {
      // The segment with the last shared entry stays as a whole.
      var last = tables.of(table, number).ceilingKey(RowKey.of(table, number, keep));
      tables.of(table, number).keySet().stream()
          .filter(key -> key.second() > (keep == 0 || last == null ? keep : last.second()))
          .forEach(key -> changes.add(new RowChange(key, null)));
    }
  }

  @Override
  public void finishErasing(Collection<Long> numbers) throws SQLException {
    transaction(
        (tables, changes) -> {
          numbers.forEach(
              number -> changes.add(new RowChange(RowKey.of(Table.ERASURES, number), null)));
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
  public void close() {
    session.close();
  }
}
