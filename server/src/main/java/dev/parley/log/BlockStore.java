package dev.parley.log;

import dev.parley.encryption.KeyRing.NewWrappingKey;
import dev.parley.log.IdempotencyKeyCache.KeyName;
import dev.parley.log.IdempotencyKeyCache.StoredKey;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Position;
import java.sql.SQLException;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/// Where a log keeps its data: one row for each commit (a block), segments, contexts, idempotency
/// keys.
///
/// There is one [StoreWriter] at a time and any number of [StoreReader]s. All methods may block. An
/// `SQLException` means that the store failed, and that its object must be closed and opened again.
interface BlockStore {

  /// Opens the store for its only writer. A store that several processes share first makes earlier
  /// writers harmless (fencing), and returns only when everything that they have committed is
  /// durable.
  StoreWriter openWriter() throws SQLException;

  /// Opens the store for reading. The reader of a shared store sees nothing that a failover of the
  /// database could remove.
  StoreReader openReader() throws SQLException;

  /// The encryption of the contexts.
  default LogEncryption encryption() {
    return LogEncryption.none();
  }

  /// The bytes of the store's journal (write-ahead log); 0 if there is none.
  long journalBytes();

  /// Copies as much as possible of the journal into the database, while the writer continues.
  CopyResult copyJournal();

  /// Whether a copy of the journal succeeded, and how many pages are left.
  record CopyResult(boolean succeeded, long pagesLeft) {}

  /// Writes the store. Each method is one transaction. For one thread.
  interface StoreWriter extends AutoCloseable {

    /// Loads all contexts with unsealed entries, and these entries.
    void loadUnsealed(UnsealedBlocks unsealedBlocks, MemoryLimiters memory) throws SQLException;

    /// The highest number of a context, or 0.
    long lastNumber() throws SQLException;

    /// The highest number of a block or of another change, or 0.
    long lastBlock() throws SQLException;

    /// Writes a commit, all or nothing: its block, new contexts, forks and keys; the segments and
    /// states of the contexts that it seals; and it deletes old blocks. A shared store checks in
    /// the same transaction that this writer was not fenced.
    ///
    /// @throws SQLException if it is unknown whether the commit is durable
    void write(LogCommit commit, byte[] block) throws SQLException;

    /// True if the commit with this number was written. Call it on a writer that was opened after
    /// the failure. A shared store also checks that this writer was not fenced meanwhile: another
    /// one may have used the number.
    boolean hasCommit(long id) throws SQLException;

    /// Makes durable what can be read: after a failed sync, readable data may be in memory only.
    /// False if readers block this.
    boolean secureCommits() throws SQLException;

    /// Checks that the store can be written, by a commit of about `bytes` that changes nothing. `id`
    /// must not be in use.
    void testWrite(long id, long bytes) throws SQLException;

    /// The numbers of the contexts that have data to erase; may include others than contexts.
    List<Long> pendingErasures() throws SQLException;

    /// Turns the context into a tombstone. Returns its number, and those of earlier deleted contexts
    /// whose data is no longer needed.
    List<Long> beginErasing(CachedContext context, long mark) throws SQLException;

    /// True if the context is a tombstone.
    boolean isErased(CachedContext context) throws SQLException;

    /// Erases up to about `slice.bytes()` of data.
    ErasedSlice erase(ErasureSlice slice) throws SQLException;

    /// Records that these contexts are fully erased.
    void finishErasing(Collection<Long> numbers) throws SQLException;

    /// True if contexts have keys that an earlier wrapping key wraps.
    default boolean hasOldWrappingKeys() throws SQLException {
      return false;
    }

    /// Stores a wrapping key. From now on it wraps the keys of new contexts.
    default void addWrappingKey(NewWrappingKey fresh) throws SQLException {
      throw new UnsupportedOperationException("this store is not encrypted");
    }

    /// Wraps the keys of up to `limit` contexts with numbers above `after` with the current wrapping
    /// key.
    default RewrappedKeys rewrapKeys(long after, int limit) throws SQLException {
      return new RewrappedKeys(after, 0, true);
    }

    /// Deletes all wrapping keys but the current one.
    default void deleteOldWrappingKeys() throws SQLException {}

    /// Makes the journal start again, so that it does not grow. False if a reader blocks this.
    boolean restartJournal() throws SQLException;

    /// Removes erased data from the journal. False if a reader blocks this.
    boolean truncateJournal() throws SQLException;

    @Override
    void close() throws SQLException;
  }

  /// What to erase: the chunks of the context `number` in `blocks` (true if other contexts still
  /// need the block), and the rows of the contexts `numbers`.
  record ErasureSlice(long number, Map<Long, Boolean> blocks, List<Long> numbers, long bytes) {}

  /// How many bytes were erased (less than requested if none are left), and from which blocks.
  record ErasedSlice(long bytes, List<Long> blocks) {}

  /// The number of the last context whose key was wrapped again, how many keys could not be, and
  /// whether there are no more.
  record RewrappedKeys(long last, int failed, boolean complete) {}

  /// How many contexts are encrypted and not encrypted, and how many wrapping keys there are.
  record KeyCounts(long encrypted, long plain, long wrappingKeys) {}

  /// Reads the store. No transaction stays open after a method has returned. For one thread at a
  /// time.
  interface StoreReader extends AutoCloseable {

    /// The context with this id; `ABSENT` if there is none.
    CachedContext load(ContextId id, MemoryLimiters memory) throws SQLException;

    /// The context with this id, whose row or state cannot be read. It can only be deleted.
    CachedContext loadDamaged(ContextId id, MemoryLimiters memory) throws SQLException;

    /// The owner of the context with this id when it was created.
    Optional<String> owner(ContextId id) throws SQLException;

    /// True if the context with this number was deleted.
    boolean isDeleted(long number) throws SQLException;

    /// The earlier use of an idempotency key, if any.
    Optional<StoredKey> findKey(CachedContext context, KeyName name) throws SQLException;

    /// Up to about `limit` entries of segments after `after`, and at least one segment.
    List<StoredEntry> readSegments(CachedContext context, Position after, int limit)
        throws SQLException;

    /// The last state of `context` that was stored at or before `atSeq`.
    Optional<SavedState> stateBefore(CachedContext context, long atSeq) throws SQLException;

    /// Sealed contexts with open tasks.
    List<ContextId> withOpenTasks() throws SQLException;

    /// Sealed contexts that were last changed after block `first` and not after block `last`; only
    /// up to an earlier block if there are more than `limit`.
    SealedChanges changes(long first, long last, int limit) throws SQLException;

    /// The last block up to which all contexts are sealed: no later one is left of those before it.
    long lastSealedBlock() throws SQLException;

    /// Counts keys.
    default KeyCounts countKeys() throws SQLException {
      return new KeyCounts(0, 0, 0);
    }

    /// How many sealed contexts were last changed after block `mark`.
    long countChanges(long mark) throws SQLException;

    @Override
    void close() throws SQLException;
  }

  /// The last block of each changed context, complete up to block `last`.
  record SealedChanges(Map<ContextId, Long> blocks, long last) {}

  /// One commit: the appends of one block, the contexts that it seals, and the old blocks that it
  /// deletes.
  record LogCommit(
      long id, List<PendingAppend> appends, List<CachedContext> sealing, List<Long> deleting) {

    /// The contexts that the appends belong to.
    Set<CachedContext> contexts() {
      var contexts = new LinkedHashSet<CachedContext>();
      appends.forEach(pendingAppend -> contexts.add(pendingAppend.context()));
      return contexts;
    }

    /// The approximate size of what the commit writes, in bytes.
    long bytes() {
      return appends.isEmpty()
          ? sealing.stream().mapToLong(context -> context.unsealedBytes).sum()
          : appends.stream().mapToLong(pendingAppend -> pendingAppend.chunk().length).sum();
    }
  }
}
