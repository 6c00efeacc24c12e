package dev.parley.log;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;

/// Tracks the stored blocks that contain chunks which are no longer needed, and the blocks that can
/// be deleted.
///
/// A block stays until all of its contexts are sealed, and a little longer: deleting it overwrites
/// its pages with zeros, which costs nothing if the same commit reuses them. Each commit therefore
/// deletes about as many bytes of blocks as it writes. For the writer thread.
final class StaleChunks {

  /// The size of the smallest commit.
  private static final int PAGE_BYTES = 4_096;

  private final Map<Long, Set<Long>> contextsByBlock = new HashMap<>();
  private final Map<Long, Set<Long>> blocksByContext = new HashMap<>();
  private final Queue<Emptied> emptied = new ArrayDeque<>();
  private long credit;

  private record Emptied(long block, int bytes) {}

  /// Records that a block contains a chunk of a context that is no longer needed.
  void add(long block, long context) {
    contextsByBlock.computeIfAbsent(block, _ -> new HashSet<>()).add(context);
    blocksByContext.computeIfAbsent(context, _ -> new HashSet<>()).add(block);
  }

  /// Records that no chunk of a block is needed.
  void emptied(long block, int bytes) {
    emptied.add(new Emptied(block, bytes));
  }

  /// The blocks that contain a chunk of this context that is no longer needed.
  List<Long> blocksOf(long context) {
    return List.copyOf(blocksByContext.getOrDefault(context, Set.of()));
  }

  /// The blocks that a commit of this size should delete.
  List<Long> deletable(long commitBytes, int creditMax) {
    var budget = credit(commitBytes, creditMax);
    var blocks = new ArrayList<Long>();
    for (var next : emptied) {
      budget -= next.bytes();
      if (budget < 0) {
        break;
      }
      blocks.add(next.block());
    }
    return blocks;
  }

  /// Records that a commit of this size has deleted these blocks, which [#deletable] returned.
  void deleted(List<Long> blocks, long commitBytes, int creditMax) {
    credit = credit(commitBytes, creditMax);
    for (var block : blocks) {
      credit -= emptied.remove().bytes();
      remove(block);
    }
  }

  private long credit(long commitBytes, int creditMax) {
    // A block that is larger than the limit must still be deleted eventually.
    var largest = emptied.isEmpty() ? 0 : emptied.element().bytes();
    return Math.min(credit + commitBytes + PAGE_BYTES, Math.max(creditMax, largest));
  }

  /// Records that a block contains no such chunks any more.
  void remove(long block) {
    var contexts = contextsByBlock.remove(block);
    if (contexts != null) {
      contexts.forEach(context -> remove(block, context));
    }
  }

  /// Records that a block contains no chunk of this context any more.
  void erased(long block, long context) {
    var contexts = contextsByBlock.get(block);
    if (contexts != null && contexts.remove(context)) {
      remove(block, context);
      if (contexts.isEmpty()) {
        contextsByBlock.remove(block);
      }
    }
  }

  private void remove(long block, long context) {
    var blocks = blocksByContext.get(context);
    if (blocks != null && blocks.remove(block) && blocks.isEmpty()) {
      blocksByContext.remove(context);
    }
  }
}
