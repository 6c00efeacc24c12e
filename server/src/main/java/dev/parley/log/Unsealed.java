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

/// Which blocks hold entries that are not in segments yet, and which contexts should be sealed next.
///
/// Used by the writer's thread only, but for [#contexts].
final class Unsealed {

  /// How many contexts one commit seals at most, so that no commit takes long, unless there are too many.
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

  /// About how much memory the unsealed entries take.
  long weight() {
    return weight;
  }

  /// What one chunk adds: events, bytes in the store, and bytes in memory.
  record Part(int events, int bytes, long weight) {

    static Part of(Ticket ticket) {
      return new Part(ticket.events(), ticket.chunk().length, ticket.weight());
    }

    static Part of(byte[] chunk, List<Slot> slots) {
      return new Part(slots.size(), chunk.length, Slot.weight(slots));
    }
  }

  /// Notes that a durable block holds these entries of a context.
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

  /// The contexts to seal with the next commit, which holds these appends.
  ///
  /// Contexts that are written side by side are ripe at the same moment. To seal them all at once would
  /// stop everybody; twice as many as one commit makes ripe, on average, is enough to keep up. While
  /// there is too much unsealed, the oldest is sealed too: the more there is, the more contexts at a
  /// time, up to twice as many as the commit has appends. Beyond the hard limit as many as it takes.
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

  /// How much would be unsealed after a commit.
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
        return; // As most commits: there is no need to know which contexts are new.
      }
      for (var ticket : tickets) {
        if (coming.add(ticket.context()) && ticket.context().unsealedCount == 0) {
          contextsLeft++;
        }
      }
    }

    /// Notes that a context will be sealed with the commit.
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

    /// How far the way from what is wanted to the hard limit it is: 0 to 1.
    double toHardLimit() {
      var used =
          Math.max(
              (double) contextsLeft / tuning.memory().unsealedContexts(),
              Math.max(
                  (double) bytesLeft / tuning.unsealedBytes(),
                  (double) weightLeft / tuning.memory().unsealedBytes()));
      return Math.clamp((used - 1) / (MemoryLimits.HARD_FACTOR - 1), 0.0, 1.0);
    }

    /// True if more than `factor` times what is wanted would be unsealed.
    boolean over(int factor) {
      return bytesLeft > (long) factor * tuning.unsealedBytes()
          || weightLeft > factor * tuning.memory().unsealedBytes()
          || contextsLeft > factor * tuning.memory().unsealedContexts();
    }
  }

  /// Leaves these contexts unsealed from now on: sealing one of them does not work.
  void spare(List<LiveContext> unsealable) {
    spared.addAll(unsealable);
  }

  /// Contexts that were sealed and may be dropped from memory. For any thread.
  Queue<LiveContext> released() {
    return released;
  }

  /// Notes that a stored block holds entries of a context that cannot be read: both stay as they are.
  void keep(long block, int blockBytes, LiveContext context) {
    spared.add(context);
    add(block, blockBytes, context, new Part(1, 0, 0));
  }

  /// Notes that a stored block holds entries of a context that are in segments, or of a deleted one.
  void addStale(long block, long context) {
    stale.add(block, context);
  }

  /// Notes that all entries of a stored block have been added.
  void loaded(long block, int blockBytes) {
    if (!blocks.containsKey(block)) {
      stale.emptied(block, blockBytes);
    }
  }

  /// True if a block holds entries that are not in segments.
  boolean needs(long block) {
    return blocks.containsKey(block);
  }

  /// Blocks that nothing needs, for a commit of so many bytes to delete.
  List<Long> deletable(long commitBytes) {
    return stale.deletable(commitBytes, tuning.batchBytes());
  }

  /// Notes that a commit of so many bytes has deleted these blocks.
  void deleted(List<Long> ids, long commitBytes) {
    stale.deleted(ids, commitBytes, tuning.batchBytes());
  }

  /// Which blocks hold entries that are not needed any more.
  StaleChunks stale() {
    return stale;
  }

  /// Notes that a context's entries up to `to` are in segments, durably.
  void sealed(LiveContext context, Position to) {
    forget(context);
    context.sealedTo = to;
    context.headsSaved();
    released.add(context);
  }

  /// Drops a context's part of every block.
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
