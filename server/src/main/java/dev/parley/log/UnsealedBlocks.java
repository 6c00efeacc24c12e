package dev.parley.log;

import dev.parley.log.LogTuning.MemoryLimits;
import dev.parley.protocol.Position;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;

/// Tracks the blocks with entries that are not in segments yet, and selects the contexts to seal
/// next.
///
/// For the writer thread, except [#contexts] and [#released].
final class UnsealedBlocks {

  /// Usual maximum number of contexts that one commit seals, so that no commit takes long.
  private static final int SEALS_USUAL = 16;

  private final LogTuning logTuning;

  /// The blocks with entries that are not in segments, oldest first.
  private final LinkedHashMap<Long, UnsealedBlock> blocks = new LinkedHashMap<>();

  /// The block that was added last. The chunks of a block are added one after the other.
  private UnsealedBlock newest = new UnsealedBlock(new StoredBlock(0, 0), List.of());

  /// A block, and the contexts that have, or had, entries in it that are not in segments.
  private record UnsealedBlock(StoredBlock stored, List<CachedContext> contexts) {

    /// A context is sealed as a whole, so it needs its oldest unsealed block and all later ones.
    List<CachedContext> neededBy() {
      return contexts.stream()
          .filter(context -> !context.unsealedBlocks.isEmpty())
          .filter(context -> context.unsealedBlocks.getFirst().id <= stored.id)
          .toList();
    }
  }

  private final Set<CachedContext> readyToSeal = new LinkedHashSet<>();
  private final Set<CachedContext> contexts = ConcurrentHashMap.newKeySet();
  private final Set<CachedContext> excluded = new HashSet<>();
  private final Queue<CachedContext> released = new ConcurrentLinkedQueue<>();
  private final StaleChunks stale = new StaleChunks();
  private long bytes;
  private long weight;
  private long selections;

  UnsealedBlocks(LogTuning logTuning) {
    this.logTuning = logTuning;
  }

  /// Contexts that have unsealed entries. For any thread.
  Collection<CachedContext> contexts() {
    return contexts;
  }

  long bytes() {
    return bytes;
  }

  /// The approximate memory of the unsealed entries, in bytes.
  long weight() {
    return weight;
  }

  /// The size of a chunk: events, bytes in the store, and bytes in memory.
  record ChunkSize(int events, int bytes, long weight) {

    static ChunkSize of(PendingAppend pendingAppend) {
      return new ChunkSize(
          pendingAppend.events(), pendingAppend.chunk().length, pendingAppend.weight());
    }

    static ChunkSize of(byte[] chunk, List<StoredRun> runs) {
      return new ChunkSize(StoredRun.size(runs), chunk.length, StoredRun.weight(runs));
    }
  }

  /// Records that a durable block contains these entries of a context.
  void add(long block, int blockBytes, CachedContext context, ChunkSize chunkSize) {
    var unsealedBlock = block(block, blockBytes);
    var stored = unsealedBlock.stored();
    if (stored.needed() == 0) {
      blocks.put(block, unsealedBlock);
      bytes += blockBytes;
    }
    // The blocks of a context are added in order, so only the last one can be this.
    if (context.unsealedBlocks.isEmpty() || context.unsealedBlocks.getLast().id != block) {
      context.unsealedBlocks.add(stored);
      stored.need();
      unsealedBlock.contexts().add(context);
    }
    if (context.unsealedCount == 0) {
      contexts.add(context);
    }
    context.lastBlock = block;
    context.unsealedCount += chunkSize.events();
    context.unsealedBytes += chunkSize.bytes();
    context.unsealedWeight += chunkSize.weight();
    weight += chunkSize.weight();
    if (context.unsealedCount >= logTuning.sealEvents()
        || context.unsealedBytes >= logTuning.sealBytes()) {
      readyToSeal.add(context);
    }
  }

  private UnsealedBlock block(long id, int blockBytes) {
    if (newest.stored().id != id) {
      newest = new UnsealedBlock(new StoredBlock(id, blockBytes), new ArrayList<>());
    }
    return newest;
  }

  /// The contexts to seal with the next commit, which contains these appends.
  ///
  /// Contexts that are written at the same rate become ready at the same moment. Sealing them all
  /// at once would stop all appends; sealing twice as many as one commit makes ready, on average,
  /// is enough to keep up. While there is too much unsealed data, the oldest contexts are sealed
  /// too: the more data, the more contexts at a time, up to twice the number of appends in the
  /// commit. Above the hard limit, as many as necessary are sealed.
  List<CachedContext> contextsToSeal(List<PendingAppend> tickets) {
    var excess = new Excess(tickets);
    var due = new LinkedHashSet<CachedContext>();
    var ripeMost =
        1
            + 2 * excess.comingEvents / logTuning.sealEvents()
            + 2 * excess.comingBytes / logTuning.sealBytes();
    for (var context : readyToSeal) {
      if (due.size() >= Math.min(SEALS_USUAL, ripeMost)) {
        break;
      }
      choose(context, due, excess);
    }
    if (excess.exceeds(1)) {
      var most = Math.max(SEALS_USUAL, (int) (2 * tickets.size() * excess.toHardLimit()));
      chooseOldest(most, due, excess);
    }
    return new ArrayList<>(due);
  }

  private void chooseOldest(int most, Set<CachedContext> due, Excess excess) {
    for (var block : blocks.values()) {
      for (var context : block.neededBy()) {
        if (!excess.exceeds(due.size() < most ? 1 : MemoryLimits.HARD_FACTOR)) {
          return;
        }
        choose(context, due, excess);
      }
    }
  }

  private void choose(CachedContext context, Set<CachedContext> due, Excess excess) {
    if (!excluded.contains(context) && due.add(context)) {
      excess.seal(context);
    }
  }

  /// The amount of unsealed data after a commit.
  private final class Excess {
    private final long selection = ++selections;
    private final Set<CachedContext> coming = new HashSet<>();
    final int comingEvents;
    final int comingBytes;
    private long bytesLeft = bytes;
    private long weightLeft = weight;
    private int contextsLeft = contexts.size();

    Excess(List<PendingAppend> tickets) {
      var events = 0;
      var chunks = 0;
      for (var pendingAppend : tickets) {
        events += pendingAppend.events();
        chunks += pendingAppend.chunk().length;
        weightLeft += pendingAppend.weight();
      }
      comingEvents = events;
      comingBytes = chunks;
      bytesLeft += chunks;
      countContexts(tickets);
    }

    private void countContexts(List<PendingAppend> tickets) {
      if (contextsLeft + tickets.size() <= logTuning.memory().unsealedContexts()) {
        return; // The usual case: it does not matter which contexts are new.
      }
      for (var pendingAppend : tickets) {
        if (coming.add(pendingAppend.context()) && pendingAppend.context().unsealedCount == 0) {
          contextsLeft++;
        }
      }
    }

    /// Records that the commit will seal this context.
    void seal(CachedContext context) {
      weightLeft -= context.unsealedWeight;
      for (var block : context.unsealedBlocks) {
        if (block.leave(selection)) {
          bytesLeft -= block.bytes;
        }
      }
      if (!coming.contains(context)) {
        contextsLeft--;
      }
    }

    /// The relative position between the limit (0) and the hard limit (1).
    double toHardLimit() {
      var used =
          Math.max(
              (double) contextsLeft / logTuning.memory().unsealedContexts(),
              Math.max(
                  (double) bytesLeft / logTuning.unsealedBytes(),
                  (double) weightLeft / logTuning.memory().unsealedBytes()));
      return Math.clamp((used - 1) / (MemoryLimits.HARD_FACTOR - 1), 0.0, 1.0);
    }

    /// True if the unsealed data would exceed `factor` times the limit.
    boolean exceeds(int factor) {
      return bytesLeft > (long) factor * logTuning.unsealedBytes()
          || weightLeft > factor * logTuning.memory().unsealedBytes()
          || contextsLeft > factor * logTuning.memory().unsealedContexts();
    }
  }

  /// Excludes these contexts from sealing, because sealing one of them fails.
  void exclude(List<CachedContext> unsealable) {
    excluded.addAll(unsealable);
  }

  /// False if sealing this context fails.
  boolean sealable(CachedContext context) {
    return !excluded.contains(context);
  }

  /// Contexts that were sealed and may be dropped from memory. For any thread.
  Queue<CachedContext> released() {
    return released;
  }

  /// Records that a stored block contains entries of a context that cannot be read. Both are kept
  /// unchanged.
  void keepUnreadable(long block, int blockBytes, CachedContext context) {
    excluded.add(context);
    add(block, blockBytes, context, new ChunkSize(1, 0, 0));
  }

  /// Records that a stored block contains entries of a context that are in segments, or entries of
  /// a deleted context.
  void addStale(long block, int blockBytes, long context) {
    stale.add(block(block, blockBytes).stored(), context);
  }

  /// Records that all entries of a stored block have been added.
  void loaded(long block, int blockBytes) {
    var stored = block(block, blockBytes).stored();
    if (stored.needed() == 0) {
      stale.emptied(stored);
    }
  }

  /// True if a block contains entries that are not in segments.
  boolean needs(long block) {
    return blocks.containsKey(block);
  }

  /// The blocks that are no longer needed and that a commit of this size should delete.
  List<Long> deletable(long commitBytes) {
    return stale.deletable(commitBytes, logTuning.batchBytes());
  }

  /// The blocks that are no longer needed and that a commit should delete which does nothing else.
  List<Long> deletableAlone() {
    return stale.deletableAlone(logTuning.batchBytes());
  }

  /// Records that a commit of this size has deleted these blocks.
  void deleted(List<Long> ids, long commitBytes) {
    stale.deleted(ids, commitBytes, logTuning.batchBytes());
  }

  /// The entries in blocks that are no longer needed.
  StaleChunks stale() {
    return stale;
  }

  /// Records that a context's entries up to `to` are durably in segments.
  void sealed(CachedContext context, Position to) {
    removeContext(context);
    context.sealedTo = to;
    context.headsSaved();
    released.add(context);
  }

  /// Removes a context from all blocks.
  void removeContext(CachedContext context) {
    for (var block : context.unsealedBlocks) {
      block.release();
      stale.add(block, context.number);
      if (block.needed() == 0) {
        stale.emptied(block);
        blocks.remove(block.id);
        bytes -= block.bytes;
      }
    }
    context.unsealedBlocks.clear();
    context.unsealedCount = 0;
    context.unsealedBytes = 0;
    weight -= context.unsealedWeight;
    context.unsealedWeight = 0;
    readyToSeal.remove(context);
    contexts.remove(context);
  }
}
