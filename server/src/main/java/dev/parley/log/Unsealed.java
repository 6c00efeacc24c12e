package dev.parley.log;

import dev.parley.protocol.Position;
import java.util.ArrayList;
import java.util.Collection;
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

  /// How many contexts one commit seals at most, so that no commit takes long.
  private static final int SEALS_MAX = 16;

  /// How many contexts may have unsealed entries, as each of them stays in memory.
  private static final int CONTEXTS_MAX = 20_000;

  private final Tuning tuning;
  private final TreeMap<Long, Block> blocks = new TreeMap<>();
  private final Set<LiveContext> ripe = new LinkedHashSet<>();
  private final Set<LiveContext> contexts = ConcurrentHashMap.newKeySet();
  private final Set<LiveContext> spared = new HashSet<>();
  private final Queue<LiveContext> released = new ConcurrentLinkedQueue<>();
  private final StaleChunks stale = new StaleChunks();
  private long bytes;

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

  /// Notes that a durable block holds these entries of a context.
  void add(long block, int blockBytes, LiveContext context, List<Slot> slots) {
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
    context.unsealedCount += slots.size();
    for (var slot : slots) {
      context.unsealedWeight += slot.weight();
    }
    if (context.unsealedCount >= tuning.sealEvents()
        || context.unsealedWeight >= tuning.sealBytes()) {
      ripe.add(context);
    }
  }

  /// The contexts to seal with the next commit, which holds so many events.
  ///
  /// Contexts that are written side by side are ripe at the same moment. To seal them all at once would
  /// stop everybody; twice as many as one commit makes ripe, on average, is enough to keep up.
  List<LiveContext> due(int events) {
    var most = Math.min(SEALS_MAX, 1 + 2 * events / tuning.sealEvents());
    var due = new LinkedHashSet<LiveContext>();
    choose(due, ripe, most);
    if (bytes > tuning.unsealedBytes() || contexts.size() > CONTEXTS_MAX) {
      for (var block : blocks.values()) {
        choose(due, block.contexts, SEALS_MAX);
        if (due.size() >= SEALS_MAX) {
          break;
        }
      }
    }
    return new ArrayList<>(due);
  }

  private void choose(Set<LiveContext> due, Set<LiveContext> candidates, int most) {
    for (var context : candidates) {
      if (due.size() >= most) {
        return;
      }
      if (!spared.contains(context)) {
        due.add(context);
      }
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
    context.unsealedWeight = 0;
    ripe.remove(context);
    contexts.remove(context);
  }

  private Block block(long id) {
    return Objects.requireNonNull(blocks.get(id));
  }
}
