package dev.parley.log;

import dev.parley.protocol.Position;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;

/// Tracks the blocks with entries that are not in segments yet, and selects the contexts to seal
/// next.
///
/// For the writer thread, except [#contexts] and [#released].
final class Unsealed {

  /// Usual maximum number of contexts that one commit seals, so that no commit takes long.
  private static final int SEALS_USUAL = 16;

  private final Tuning tuning;
  private final TreeMap<Long, Block> blocks = new TreeMap<>();
  private final Set<LiveContext> ripe = new LinkedHashSet<>();
  private final Set<LiveContext> contexts = ConcurrentHashMap.newKeySet();
  private final Set<LiveContext> spared = new HashSet<>();
  private final Queue<LiveContext> released = new ConcurrentLinkedQueue<>();
  private final StaleChunks stale = new StaleChunks();
  private long bytes;
  private long weight;

  private static final class Block {
    final int bytes;
    final Set<LiveContext> contexts = new LinkedHashSet<>();

    Block(int bytes) {
      this.bytes = bytes;
    }
  }

  Unsealed(Tuning tuning) {
    this.tuning = tuning;
  }

  /// Contexts that have unsealed entries. For any thread.
  Collection<LiveContext> contexts() {
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
  record Part(int events, int bytes, long weight) {

    static Part of(Ticket ticket) {
      return new Part(ticket.events(), ticket.chunk().length, ticket.weight());
    }

    static Part of(byte[] chunk, List<Slot> slots) {
      return new Part(slots.size(), chunk.length, Slot.weight(slots));
    }
  }

  /// Records that a durable block contains these entries of a context.
  void add(long block, int blockBytes, LiveContext context, Part part) {
    var known = blocks.get(block);
    if (known == null) {
      known = new Block(blockBytes);
      blocks.put(block, known);
      bytes += blockBytes;
    }
    if (known.contexts.add(context)) {
      context.unsealedBlocks.add(block);
    }
    if (context.unsealedCount == 0) {
      contexts.add(context);
    }
    context.lastBlock = block;
    context.unsealedCount += part.events();
    context.unsealedBytes += part.bytes();
    context.unsealedWeight += part.weight();
    weight += part.weight();
    if (context.unsealedCount >= tuning.sealEvents()
        || context.unsealedBytes >= tuning.sealBytes()) {
      ripe.add(context);
    }
  }

  /// The contexts to seal with the next commit, which contains these appends.
  ///
  /// Contexts that are written at the same rate become ready at the same moment. Sealing them all
  /// at once would stop all appends; sealing twice as many as one commit makes ready, on average,
  /// is enough to keep up. While there is too much unsealed data, the oldest contexts are sealed
  /// too: the more data, the more contexts at a time, up to twice the number of appends in the
  /// commit. Above the hard limit, as many as necessary are sealed.
  List<LiveContext> due(List<Ticket> tickets) {
    var excess = new Excess(tickets);
    var due = new LinkedHashSet<LiveContext>();
    var ripeMost =
        1
            + 2 * excess.comingEvents / tuning.sealEvents()
            + 2 * excess.comingBytes / tuning.sealBytes();
    for (var context : ripe) {
      if (due.size() >= Math.min(SEALS_USUAL, ripeMost)) {
        break;
      }
      choose(context, due, excess);
    }
    if (excess.over(1)) {
      var most = Math.max(SEALS_USUAL, (int) (2 * tickets.size() * excess.toHardLimit()));
      chooseOldest(most, due, excess);
    }
    return new ArrayList<>(due);
  }

  private void chooseOldest(int most, Set<LiveContext> due, Excess excess) {
    for (var block : blocks.values()) {
      for (var context : block.contexts) {
        if (!excess.over(due.size() < most ? 1 : MemoryLimits.HARD_FACTOR)) {
          return;
        }
        choose(context, due, excess);
      }
    }
  }

  private void choose(LiveContext context, Set<LiveContext> due, Excess excess) {
    if (!spared.contains(context) && due.add(context)) {
      excess.seal(context);
    }
  }

  /// The amount of unsealed data after a commit.
  private final class Excess {
    private final HashMap<Long, Integer> leaving = new HashMap<>();
    private final Set<LiveContext> coming = new HashSet<>();
    final int comingEvents;
    final int comingBytes;
    private long bytesLeft = bytes;
    private long weightLeft = weight;
    private int contextsLeft = contexts.size();

    Excess(List<Ticket> tickets) {
      var events = 0;
      var chunks = 0;
      for (var ticket : tickets) {
        events += ticket.events();
        chunks += ticket.chunk().length;
        weightLeft += ticket.weight();
      }
      comingEvents = events;
      comingBytes = chunks;
      bytesLeft += chunks;
      countContexts(tickets);
    }

    private void countContexts(List<Ticket> tickets) {
      if (contextsLeft + tickets.size() <= tuning.memory().unsealedContexts()) {
        return; // The usual case: it does not matter which contexts are new.
      }
      for (var ticket : tickets) {
        if (coming.add(ticket.context()) && ticket.context().unsealedCount == 0) {
          contextsLeft++;
        }
      }
    }

    /// Records that the commit will seal this context.
    void seal(LiveContext context) {
      weightLeft -= context.unsealedWeight;
      for (var id : context.unsealedBlocks) {
        var block = block(id);
        if (leaving.merge(id, 1, Integer::sum) == block.contexts.size()) {
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
              (double) contextsLeft / tuning.memory().unsealedContexts(),
              Math.max(
                  (double) bytesLeft / tuning.unsealedBytes(),
                  (double) weightLeft / tuning.memory().unsealedBytes()));
      return Math.clamp((used - 1) / (MemoryLimits.HARD_FACTOR - 1), 0.0, 1.0);
    }

    /// True if the unsealed data would exceed `factor` times the limit.
    boolean over(int factor) {
      return bytesLeft > (long) factor * tuning.unsealedBytes()
          || weightLeft > factor * tuning.memory().unsealedBytes()
          || contextsLeft > factor * tuning.memory().unsealedContexts();
    }
  }

  /// Excludes these contexts from sealing, because sealing one of them fails.
  void spare(List<LiveContext> unsealable) {
    spared.addAll(unsealable);
  }

  /// Contexts that were sealed and may be dropped from memory. For any thread.
  Queue<LiveContext> released() {
    return released;
  }

  /// Records that a stored block contains entries of a context that cannot be read. Both are kept
  /// unchanged.
  void keep(long block, int blockBytes, LiveContext context) {
    spared.add(context);
    add(block, blockBytes, context, new Part(1, 0, 0));
  }

  /// Records that a stored block contains entries of a context that are in segments, or entries of
  /// a deleted context.
  void addStale(long block, long context) {
    stale.add(block, context);
  }

  /// Records that all entries of a stored block have been added.
  void loaded(long block, int blockBytes) {
    if (!blocks.containsKey(block)) {
      stale.emptied(block, blockBytes);
    }
  }

  /// True if a block contains entries that are not in segments.
  boolean needs(long block) {
    return blocks.containsKey(block);
  }

  /// The blocks that are no longer needed and that a commit of this size should delete.
  List<Long> deletable(long commitBytes) {
    return stale.deletable(commitBytes, tuning.batchBytes());
  }

  /// Records that a commit of this size has deleted these blocks.
  void deleted(List<Long> ids, long commitBytes) {
    stale.deleted(ids, commitBytes, tuning.batchBytes());
  }

  /// The entries in blocks that are no longer needed.
  StaleChunks stale() {
    return stale;
  }

  /// Records that a context's entries up to `to` are durably in segments.
  void sealed(LiveContext context, Position to) {
    forget(context);
    context.sealedTo = to;
    context.headsSaved();
    released.add(context);
  }

  /// Removes a context from all blocks.
  void forget(LiveContext context) {
    for (var id : context.unsealedBlocks) {
      var block = block(id);
      block.contexts.remove(context);
      stale.add(id, context.number);
      if (block.contexts.isEmpty()) {
        stale.emptied(id, block.bytes);
        blocks.remove(id);
        bytes -= block.bytes;
      }
    }
    context.unsealedBlocks.clear();
    context.unsealedCount = 0;
    context.unsealedBytes = 0;
    weight -= context.unsealedWeight;
    context.unsealedWeight = 0;
    ripe.remove(context);
    contexts.remove(context);
  }

  private Block block(long id) {
    return Objects.requireNonNull(blocks.get(id));
  }
}
