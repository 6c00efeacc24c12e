package dev.parley.log;

import dev.parley.encryption.KeyRing.NewWrappingKey;
import dev.parley.log.BlockStore.LogCommit;
import dev.parley.log.IdempotencyKeyCache.KeyName;
import dev.parley.log.IdempotencyKeyCache.StoredKey;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Position;
import java.sql.SQLException;
import java.util.Collection;
import java.util.List;
import java.util.Optional;

/// A store that fails, waits or leaves commits in doubt when a test wants it to.
record FaultyStore(BlockStore store, FaultInjector faults) implements BlockStore {

  /// Opens a log in SQLite with these faults.
  static BlockLog open(SqliteLog.SqliteLogDependencies dependencies, FaultInjector faults) {
    return open(dependencies, faults, FatalHandler.NONE);
  }

  static BlockLog open(
      SqliteLog.SqliteLogDependencies dependencies, FaultInjector faults, FatalHandler fatal) {
    var store =
        new SqliteStore(dependencies.folder(), dependencies.tuning(), dependencies.encryption());
    return SqliteLog.open(dependencies, new FaultyStore(store, faults), fatal);
  }

  @Override
  public StoreWriter openWriter() throws SQLException {
    return new FaultyWriter(store.openWriter(), faults);
  }

  @Override
  public StoreReader openReader() throws SQLException {
    return new FaultyReader(store.openReader(), faults);
  }

  @Override
  public LogEncryption encryption() {
    return store.encryption();
  }

  @Override
  public long journalBytes() {
    return store.journalBytes();
  }

  @Override
  public CopyResult copyJournal() {
    return store.copyJournal();
  }

  private record FaultyWriter(StoreWriter writer, FaultInjector faults) implements StoreWriter {

    @Override
    public void write(LogCommit commit, byte[] block) throws SQLException {
      faults.beforeCommit();
      commit.sealing().forEach(context -> faults.beforeSeal(context.id));
      writer.write(commit, block);
      faults.afterCommit();
    }

    @Override
    public void loadUnsealed(UnsealedBlocks unsealedBlocks, MemoryLimiters memory)
        throws SQLException {
      writer.loadUnsealed(unsealedBlocks, memory);
    }

    @Override
    public long lastNumber() throws SQLException {
      return writer.lastNumber();
    }

    @Override
    public long lastBlock() throws SQLException {
      return writer.lastBlock();
    }

    @Override
    public boolean hasCommit(long id) throws SQLException {
      return writer.hasCommit(id);
    }

    @Override
    public boolean hasOldWrappingKeys() throws SQLException {
      return writer.hasOldWrappingKeys();
    }

    @Override
    public void addWrappingKey(NewWrappingKey fresh) throws SQLException {
      faults.beforeCommit();
      writer.addWrappingKey(fresh);
      faults.afterCommit();
    }

    @Override
    public RewrappedKeys rewrapKeys(long after, int limit) throws SQLException {
      faults.beforeCommit();
      var rewrapped = writer.rewrapKeys(after, limit);
      faults.afterCommit();
      return rewrapped;
    }

    @Override
    public void deleteOldWrappingKeys() throws SQLException {
      faults.beforeCommit();
      writer.deleteOldWrappingKeys();
      faults.afterCommit();
    }

    @Override
    public boolean secureCommits() throws SQLException {
      return writer.secureCommits();
    }

    @Override
    public void testWrite(long id, long bytes) throws SQLException {
      writer.testWrite(id, bytes);
    }

    @Override
    public List<Long> pendingErasures() throws SQLException {
      return writer.pendingErasures();
    }

    @Override
    public List<Long> beginErasing(CachedContext context, long mark) throws SQLException {
      return writer.beginErasing(context, mark);
    }

    @Override
    public boolean isErased(CachedContext context) throws SQLException {
      return writer.isErased(context);
    }

    @Override
    public ErasedSlice erase(ErasureSlice slice) throws SQLException {
      return writer.erase(slice);
    }

    @Override
    public void finishErasing(Collection<Long> numbers) throws SQLException {
      writer.finishErasing(numbers);
    }

    @Override
    public boolean restartJournal() throws SQLException {
      return writer.restartJournal();
    }

    @Override
    public boolean truncateJournal() throws SQLException {
      return writer.truncateJournal();
    }

    @Override
    public void close() throws SQLException {
      writer.close();
    }
  }

  private record FaultyReader(StoreReader reader, FaultInjector faults) implements StoreReader {

    @Override
    public List<StoredEntry> readSegments(CachedContext context, Position after, int limit)
        throws SQLException {
      faults.beforePage();
      return reader.readSegments(context, after, limit);
    }

    @Override
    public Optional<SavedState> stateBefore(CachedContext context, long atSeq) throws SQLException {
      faults.beforePage();
      return reader.stateBefore(context, atSeq);
    }

    @Override
    public CachedContext load(ContextId id, MemoryLimiters memory) throws SQLException {
      return reader.load(id, memory);
    }

    @Override
    public CachedContext loadDamaged(ContextId id, MemoryLimiters memory) throws SQLException {
      return reader.loadDamaged(id, memory);
    }

    @Override
    public boolean isDeleted(long number) throws SQLException {
      return reader.isDeleted(number);
    }

    @Override
    public Optional<String> owner(ContextId id) throws SQLException {
      return reader.owner(id);
    }

    @Override
    public Optional<StoredKey> findKey(CachedContext context, KeyName name) throws SQLException {
      return reader.findKey(context, name);
    }

    @Override
    public List<ContextId> withOpenTasks() throws SQLException {
      return reader.withOpenTasks();
    }

    @Override
    public SealedChanges changes(long first, long last, int limit) throws SQLException {
      return reader.changes(first, last, limit);
    }

    @Override
    public long lastSealedBlock() throws SQLException {
      return reader.lastSealedBlock();
    }

    @Override
    public long countChanges(long mark) throws SQLException {
      return reader.countChanges(mark);
    }

    @Override
    public void close() throws SQLException {
      reader.close();
    }
  }
}
