package dev.parley.log;

import dev.parley.runtime.Time;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Queue;
import java.util.Set;

/// Decides which contexts are sealed when.
///
/// Each commit of appends seals the contexts that [UnsealedBlocks] selects, so that unsealed data
/// stays limited. While no append waits, contexts that have not changed for a while are sealed too:
/// the next start, also after a crash, need not read them. For the writer thread.
final class SealingSchedule {

  private static final Duration IDLE = Duration.ofSeconds(10);

  /// How exactly the time of a block is known.
  private static final Duration PRECISION = Duration.ofMillis(500);

  /// Maximum number of contexts that one commit seals while no append waits, and at the end.
  private static final int IDLE_MAX = 16;

  private static final int REMAINING_MAX = 256;

  private final UnsealedBlocks unsealedBlocks;
  private final Time time;
  private final Queue<CachedContext> suspects = new ArrayDeque<>();

  /// Blocks that were written less than [#IDLE] ago, oldest first: some of them, and the last one.
  private final ArrayDeque<WrittenBlock> recent = new ArrayDeque<>();

  /// All blocks up to this one are old.
  private long oldBlock;

  /// True if all contexts are sealed that changed last in a block up to `oldBlock`.
  private boolean idleSealed;

  private record WrittenBlock(long id, long nanos) {}

  /// `lastBlock` is the last block in the store.
  SealingSchedule(UnsealedBlocks unsealedBlocks, Time time, long lastBlock) {
    this.unsealedBlocks = unsealedBlocks;
    this.time = time;
    postpone(lastBlock);
  }

  /// The contexts to seal with these appends.
  List<CachedContext> with(List<PendingAppend> appends) {
    var sealing = neededByForks(appends);
    var suspect = suspects.poll();
    if (suspect == null) {
      sealing.addAll(unsealedBlocks.contextsToSeal(appends));
    } else if (suspect.unsealedCount > 0) {
      sealing.add(suspect);
    }
    return List.copyOf(sealing);
  }

  /// The entries that a fork shares must be in segments from the start, because it reads them
  /// there.
  static Set<CachedContext> neededByForks(List<PendingAppend> appends) {
    var needed = new LinkedHashSet<CachedContext>();
    for (var pendingAppend : appends) {
      var preparedFork = pendingAppend.fork();
      if (preparedFork != null && preparedFork.needsSealing()) {
        needed.add(preparedFork.source());
      }
    }
    return needed;
  }

  /// Records that sealing these contexts together failed. From now on, they are sealed one by one,
  /// to exclude the one that fails.
  void failed(List<CachedContext> contexts) {
    if (contexts.size() == 1) {
      unsealedBlocks.exclude(contexts);
    } else {
      suspects.addAll(contexts);
    }
  }

  /// Records that a block was written now.
  void written(long block) {
    var now = time.nanos();
    var last = recent.peekLast();
    if (last != null && now - last.nanos() < PRECISION.toNanos()) {
      recent.removeLast();
      recent.add(new WrittenBlock(block, last.nanos()));
    } else {
      recent.add(new WrittenBlock(block, now));
    }
  }

  /// The time until [#idle] or [#mayDelete] may find something; negative if only a new block can change that.
  long idleNanos() {
    if (!idleSealed || !suspects.isEmpty()) {
      return 0;
    }
    var next = recent.peek();
    if (next == null) {
      return mayDelete() ? 0 : -1;
    }
    return Math.max(0, untilOld(next));
  }

  /// True if all contexts are sealed that could be, nothing was written for a while, and there are
  /// blocks that are no longer needed.
  boolean mayDelete() {
    return idleSealed
        && suspects.isEmpty()
        && recent.isEmpty()
        && unsealedBlocks.stale().emptiedBytes() > 0;
  }

  private long untilOld(WrittenBlock block) {
    return block.nanos() + IDLE.toNanos() - time.nanos();
  }

  /// The contexts to seal while no append waits.
  List<CachedContext> idle() {
    var suspect = suspects.poll();
    if (suspect != null) {
      return suspect.unsealedCount > 0 ? List.of(suspect) : List.of();
    }
    while (!recent.isEmpty() && untilOld(recent.element()) <= 0) {
      oldBlock = recent.remove().id();
    }
    var idle = unsealedUpTo(oldBlock, IDLE_MAX);
    idleSealed = idle.size() < IDLE_MAX;
    return idle;
  }

  /// The contexts to seal when the log is closed; empty if all are sealed.
  List<CachedContext> remaining() {
    return unsealedUpTo(Long.MAX_VALUE, REMAINING_MAX);
  }

  private List<CachedContext> unsealedUpTo(long block, int limit) {
    return unsealedBlocks.contexts().stream()
        .filter(context -> context.lastBlock <= block && unsealedBlocks.sealable(context))
        .limit(limit)
        .toList();
  }

  /// Seals no idle contexts and deletes no blocks for a while, because that failed. `lastBlock` is the last block in the
  /// store.
  void postpone(long lastBlock) {
    recent.clear();
    oldBlock = 0;
    idleSealed = true;
    written(lastBlock);
  }
}
