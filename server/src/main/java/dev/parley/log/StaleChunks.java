package dev.parley.log;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;

/// Tracks the stored blocks that contain chunks which are no longer needed, and the blocks that can
/// be deleted.
///
/// A block stays until all of its contexts are sealed, and a little longer: deleting it overwrites
/// its pages with zeros, which costs nothing if the same commit reuses them. Each commit therefore
/// deletes about as many bytes of blocks as it writes. While nothing is written, and when the log is
/// closed, commits of their own delete the rest, so that the next start need not read it. For the
/// writer thread.
final class StaleChunks {

  /// The size of the smallest commit.
  private static final int PAGE_BYTES = 4_096;

  private final Map<Long, StoredBlock> blocks = new HashMap<>();
  private final Queue<StoredBlock> emptied = new ArrayDeque<>();
  private long emptiedBytes;
  private long credit;

  /// Records that a block contains a chunk of this context that is no longer needed.
  void add(StoredBlock block, long context) {
    if (block.addStale(context)) {
      blocks.put(block.id, block);
    }
  }

  /// Records that no chunk of a block is needed.
  void emptied(StoredBlock block) {
    emptied.add(block);
    emptiedBytes += block.bytes;
  }

  /// The size of all blocks that can be deleted, in bytes.
  long emptiedBytes() {
    return emptiedBytes;
  }

  /// The blocks that contain a chunk of this context that is no longer needed. Looks at all chunks,
  /// because contexts are rarely deleted.
  List<Long> blocksOf(long context) {
    return blocks.values().stream()
        .filter(block -> block.hasStale(context))
        .map(block -> block.id)
        .toList();
  }

  /// The blocks that a commit of this size should delete.
  List<Long> deletable(long commitBytes, int creditMax) {
    var budget = credit(commitBytes, creditMax);
    var deletable = new ArrayList<Long>();
    for (var next : emptied) {
      budget -= next.bytes;
      if (budget < 0) {
        break;
      }
      deletable.add(next.id);
    }
    return deletable;
  }

  /// The blocks that a commit should delete which does nothing else: up to `bytesMax` bytes, or one
  /// larger block.
  List<Long> deletableAlone(long bytesMax) {
    var bytes = 0L;
    var deletable = new ArrayList<Long>();
    for (var next : emptied) {
      if (bytes > 0 && next.bytes > Math.max(0, bytesMax - bytes)) {
        break;
      }
      bytes += next.bytes;
      deletable.add(next.id);
    }
    return deletable;
  }

  /// Records that a commit of this size has deleted these blocks, which [#deletable] or
  /// [#deletableAlone] returned.
  void deleted(List<Long> deleted, long commitBytes, int creditMax) {
    credit = credit(commitBytes, creditMax);
    for (var id : deleted) {
      var block = emptied.remove();
      credit -= block.bytes;
      emptiedBytes -= block.bytes;
      blocks.remove(id);
    }
    // A commit that does nothing else deletes more than it writes.
    credit = Math.max(0, credit);
  }

  private long credit(long commitBytes, int creditMax) {
    // A block that is larger than the limit must still be deleted eventually.
    var largest = emptied.isEmpty() ? 0 : emptied.element().bytes;
    return Math.min(credit + commitBytes + PAGE_BYTES, Math.max(creditMax, largest));
  }

  /// Records that a block contains no chunk of this context any more.
  void erased(long id, long context) {
    var block = blocks.get(id);
    if (block != null) {
      block.erased(context);
    }
  }
}
