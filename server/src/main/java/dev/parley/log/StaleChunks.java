package dev.parley.log;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;

/// Which stored blocks hold chunks that are not needed any more, and which blocks can be deleted.
///
/// A block stays until all of its contexts are sealed, and a little longer: its pages are overwritten
/// with zeros when it is deleted, which costs nothing if the same commit uses them again. So a
/// commit deletes about as many bytes of blocks as it writes. For the writer's thread.
final class StaleChunks {

  /// What the smallest commit writes.
  private static final int PAGE_BYTES = 4_096;

  private final Map<Long, Set<Long>> contextsByBlock = new HashMap<>();
  private final Map<Long, Set<Long>> blocksByContext = new HashMap<>();
  private final Queue<Emptied> emptied = new ArrayDeque<>();
  private long credit;

  private record Emptied(long block, int bytes) {}

  /// Notes that a block holds a chunk of a context that nothing needs.
  void add(long block, long context) {
    contextsByBlock.computeIfAbsent(block, _ -> new HashSet<>()).add(context);
    blocksByContext.computeIfAbsent(context, _ -> new HashSet<>()).add(block);
  }

  /// Notes that nothing needs any chunk of a block.
  void emptied(long block, int bytes) {
    emptied.add(new Emptied(block, bytes));
  }

  /// The blocks that hold a chunk of this context.
  List<Long> blocksOf(long context) {
    return List.copyOf(blocksByContext.getOrDefault(context, Set.of()));
  }

  /// The blocks that a commit of so many bytes should delete.
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

  /// Notes that a commit of so many bytes has deleted these blocks, which [#deletable] had named.
  void deleted(List<Long> blocks, long commitBytes, int creditMax) {
    credit = credit(commitBytes, creditMax);
    for (var block : blocks) {
      credit -= emptied.remove().bytes();
      remove(block);
    }
  }

  private long credit(long commitBytes, int creditMax) {
    // A block that is larger than the limit must still go some time.
    var largest = emptied.isEmpty() ? 0 : emptied.element().bytes();
    return Math.min(credit + commitBytes + PAGE_BYTES, Math.max(creditMax, largest));
  }

  /// Notes that a block holds no such chunks any more.
  void remove(long block) {
    var contexts = contextsByBlock.remove(block);
    if (contexts != null) {
      contexts.forEach(context -> remove(block, context));
    }
  }

  /// Notes that a block holds no chunk of this context any more.
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
