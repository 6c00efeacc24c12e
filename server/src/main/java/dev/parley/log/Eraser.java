package dev.parley.log;

import dev.parley.log.Checkpointer.Copied;
import dev.parley.protocol.Rejection;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.sql.SQLException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/// Erases deleted contexts in short steps between commits. For the writer thread, except
/// [#erasing].
///
/// First it deletes the rows, a limited number in each step; SQLite overwrites the pages that
/// become free. Then it truncates the write-ahead log, once for all deletions whose rows are gone:
/// the [Checkpointer] copies the log, the [ReaderGate] holds back queries, and the writer copies
/// the few pages that are left. No step waits: a step that cannot be done now is retried later. A
/// deletion is answered when all of this is done. The store records the contexts to erase, so that
/// the next process finishes the work after a crash.
final class Eraser {

  private static final Logger LOG = System.getLogger(Eraser.class.getName());

  /// The initial size and the limits of a step. Its size adapts so that a step takes about twice
  /// the time of a usual commit and delays appends only a little.
  private static final long SLICE_BYTES = 64 << 10;

  private static final long SLICE_BYTES_MIN = 16 << 10;
  private static final long SLICE_BYTES_MAX = 1 << 20;
  private static final int SLICE_COMMITS = 2;
  private static final long COMMIT_NANOS_MIN = TimeUnit.MICROSECONDS.toNanos(500);

  private static final long ROW_BYTES = 256;

  /// Maximum number of pages that the writer copies itself, so that appends wait no longer than for
  /// a large commit.
  private static final long PAGES_LEFT_MAX = 256;

  private static final int COPIES_MAX = 4;

  /// After a truncation, the next one waits for this many times the truncation's duration.
  private static final int PAUSE_FACTOR = 10;

  private static final long PAUSE_NANOS_MAX = TimeUnit.SECONDS.toNanos(1);
  private static final long RETRY_NANOS = TimeUnit.MILLISECONDS.toNanos(20);
  private static final long RETRY_NANOS_MAX = TimeUnit.SECONDS.toNanos(1);

  /// How long queries are held back at first while a running query ends.
  private static final long GATE_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

  private static final long GATE_NANOS_MAX = TimeUnit.SECONDS.toNanos(5);

  /// How long a deletion waits for readers in other processes.
  private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(30);

  private final StoreHandle store;
  private final Unsealed unsealed;
  private final ReaderGate gate;
  private final Checkpointer checkpointer;
  private final LogMetrics metrics;
  private final long walBytesMax;
  private final Runnable wake;

  private final Map<Long, Erasure> outstanding = new ConcurrentHashMap<>();
  private final ArrayDeque<Erasure> withRows = new ArrayDeque<>();
  private final List<Erasure> withoutRows = new ArrayList<>();
  private Phase phase = Phase.RESTING;
  private boolean restartWanted;
  private long walBytes;
  private int copies;
  private long sliceBytes = SLICE_BYTES;
  private long commitNanos = COMMIT_NANOS_MIN;
  private long nextSlice;
  private long nextTruncation;
  private long gateDeadline;
  private long gateNanos = GATE_NANOS;
  private long retryNanos = RETRY_NANOS;

  /// The progress of a truncation of the write-ahead log.
  private enum Phase {
    RESTING,
    COPYING,
    DRAINING
  }

  /// A deleted context with data left to erase, and the callers that wait for the end.
  private static final class Erasure {
    final long number;
    final List<Long> numbers;
    final List<Ticket> waiting = new ArrayList<>();
    boolean failed;
    long rowsGone;

    Erasure(long number, List<Long> numbers) {
      this.number = number;
      this.numbers = List.copyOf(numbers);
    }
  }

  /// `wake` makes the writer run a step soon; other threads call it.
  Eraser(Writer.Parts parts, StoreHandle store, Checkpointer checkpointer, Runnable wake) {
    this.store = store;
    this.unsealed = parts.unsealed();
    this.gate = parts.gate();
    this.metrics = parts.metrics();
    this.walBytesMax = parts.tuning().walBytes();
    this.checkpointer = checkpointer;
    this.wake = wake;
  }

  /// Resumes the erasures that an earlier process did not finish.
  void resume(List<Long> pending) {
    for (var number : pending) {
      add(number, List.of(number));
    }
  }

  /// True if the deleted context with this number has data left to erase. For any thread.
  boolean erasing(long number) {
    return outstanding.containsKey(number);
  }

  /// Erases a context that is now a tombstone, and deleted contexts whose data only it still
  /// needed.
  void begin(long number, List<Long> numbers, Ticket done) {
    add(number, numbers).waiting.add(done);
  }

  private Erasure add(long number, List<Long> numbers) {
    var erasure = new Erasure(number, numbers);
    outstanding.put(number, erasure);
    withRows.add(erasure);
    return erasure;
  }

  /// Completes `done` when all data of a deleted context is erased.
  void join(long number, Ticket done) {
    var erasure = outstanding.get(number);
    if (erasure == null) {
      done.settle(null);
      return;
    }
    erasure.waiting.add(done);
    erasure.rowsGone = System.nanoTime();
    if (erasure.failed) {
      erasure.failed = false;
      withRows.add(erasure);
    }
  }

  /// Records how long a commit took.
  void committed(long nanos) {
    commitNanos = Math.max((7 * commitNanos + nanos) / 8, COMMIT_NANOS_MIN);
  }

  /// Restarts the write-ahead log as soon as no reader blocks this.
  void wantRestart() {
    restartWanted = true;
  }

  /// How long the writer may wait for other work; zero if there is work to do now, negative if
  /// there is none.
  long idleNanos() {
    var now = System.nanoTime();
    var idle = Long.MAX_VALUE;
    if (mayErase()) {
      idle = nextSlice - now;
    }
    if (phase == Phase.RESTING && truncationWanted()) {
      idle = Math.min(idle, nextTruncation - now);
    }
    if (phase == Phase.DRAINING) {
      idle = Math.min(idle, gate.idle() ? 0 : gateDeadline - now);
    }
    return idle == Long.MAX_VALUE ? -1 : Math.max(0, idle);
  }

  /// Runs the next step of each kind that is due.
  void step() {
    var now = System.nanoTime();
    if (mayErase() && nextSlice - now <= 0) {
      erase(withRows.remove());
    }
    if (phase == Phase.RESTING && truncationWanted() && nextTruncation - now <= 0) {
      copies = 0;
      copy();
    }
    if (phase == Phase.DRAINING) {
      if (gate.idle()) {
        truncate();
      } else if (gateDeadline - now <= 0) {
        gateNanos = Math.min(2 * gateNanos, GATE_NANOS_MAX);
        tryAgain("a query is still running");
      }
    }
  }

  /// True if there are rows to erase, and no long write-ahead log is being copied.
  private boolean mayErase() {
    return !withRows.isEmpty() && (!restartWanted || phase == Phase.RESTING);
  }

  private boolean truncationWanted() {
    return restartWanted || !withoutRows.isEmpty();
  }

  private void copy() {
    copies++;
    phase = Phase.COPYING;
    checkpointer.request();
  }

  /// Handles the result of a checkpoint. True if this object requested it.
  boolean copied(Copied result) {
    if (phase != Phase.COPYING) {
      return false;
    }
    if (!result.succeeded()) {
      tryAgain("the store cannot be read");
    } else if (result.pagesLeft() > PAGES_LEFT_MAX && copies < COPIES_MAX) {
      copy();
    } else {
      phase = Phase.DRAINING;
      gateDeadline = System.nanoTime() + gateNanos;
      gate.close(wake);
    }
    return true;
  }

  private void erase(Erasure erasure) {
    try {
      if (eraseSlice(erasure)) {
        erasure.rowsGone = System.nanoTime();
        withoutRows.add(erasure);
      } else {
        withRows.add(erasure);
      }
    } catch (SQLException failed) {
      LOG.log(
          Level.WARNING,
          "erasing a deleted context failed and will be retried: {0}",
          failed.getMessage());
      store.close();
      refuse(erasure, failed.getMessage());
      withRows.add(erasure);
      nextSlice = System.nanoTime() + RETRY_NANOS_MAX;
    } catch (RuntimeException bug) {
      // Probably a segment cannot be unpacked. The next deletion or start tries again.
      LOG.log(Level.ERROR, "a deleted context cannot be erased", bug);
      store.close();
      refuse(erasure, bug.getMessage());
      erasure.failed = true;
    }
  }

  /// Removes some rows in one transaction. True if none are left.
  private boolean eraseSlice(Erasure erasure) throws SQLException {
    var table = store.table();
    var begin = System.nanoTime();
    var slice = sliceBytes;
    var left = slice;
    var blocks = new ArrayList<Long>();
    for (var block : unsealed.stale().blocksOf(erasure.number)) {
      if (left > 0) {
        left -=
            table.erasures().eraseChunks(block, erasure.number, unsealed.needs(block)) + ROW_BYTES;
        blocks.add(block);
      }
    }
    for (var number : erasure.numbers) {
      if (left > 0) {
        left -=
            number == ErasureTable.FREE_PAGES
                ? table.erasures().eraseFreePages(left)
                : table.erasures().eraseRows(number, left);
      }
    }
    table.commit();
    blocks.forEach(block -> unsealed.stale().erased(block, erasure.number));
    metrics.erased(slice - left);
    walBytes += slice - left;
    if (walBytes > walBytesMax) {
      walBytes = 0;
      restartWanted = true;
    }
    if (System.nanoTime() - begin > SLICE_COMMITS * commitNanos) {
      sliceBytes = Math.max(slice / 2, SLICE_BYTES_MIN);
    } else {
      sliceBytes = Math.min(slice + slice / 4, SLICE_BYTES_MAX);
    }
    return left > 0;
  }

  private void truncate() {
    phase = Phase.RESTING;
    var begin = System.nanoTime();
    var none = withoutRows.isEmpty();
    try {
      var table = store.table();
      if (!(none ? table.restartWal() : table.truncateWal())) {
        tryAgain("another process is reading the database");
        return;
      }
      if (!none) {
        table.erasures().finish(finished());
        metrics.truncated();
      }
    } catch (SQLException failed) {
      LOG.log(
          Level.WARNING,
          "erasing deleted contexts failed and will be retried: {0}",
          failed.getMessage());
      store.close();
      withoutRows.forEach(erasure -> refuse(erasure, failed.getMessage()));
      tryAgain(failed.getMessage());
      return;
    } finally {
      gate.open();
    }
    restartWanted = false;
    gateNanos = GATE_NANOS;
    retryNanos = RETRY_NANOS;
    var now = System.nanoTime();
    nextTruncation = now + Math.min(PAUSE_FACTOR * (now - begin), PAUSE_NANOS_MAX);
    for (var erasure : withoutRows) {
      outstanding.remove(erasure.number, erasure);
      erasure.waiting.forEach(done -> done.settle(null));
    }
    withoutRows.clear();
  }

  /// The numbers of the contexts that are fully erased.
  private Set<Long> finished() {
    var numbers = new HashSet<Long>();
    withoutRows.forEach(erasure -> numbers.addAll(erasure.numbers));
    for (var erasure : outstanding.values()) {
      if (!withoutRows.contains(erasure)) {
        erasure.numbers.forEach(numbers::remove);
      }
    }
    return numbers;
  }

  private void tryAgain(@Nullable String why) {
    pause();
    var now = System.nanoTime();
    nextTruncation = now + retryNanos;
    retryNanos = Math.min(2 * retryNanos, RETRY_NANOS_MAX);
    for (var erasure : withoutRows) {
      if (now - erasure.rowsGone > PATIENCE_NANOS) {
        refuse(erasure, why);
      }
    }
  }

  /// Lets readers continue. Call this before the writer does other work for long.
  void pause() {
    phase = Phase.RESTING;
    gate.open();
  }

  private static void refuse(Erasure erasure, @Nullable String why) {
    for (var done : erasure.waiting) {
      done.settle(
          new Rejection.Unavailable(
              "the context is deleted, but its data is not yet overwritten: "
                  + why
                  + "; delete it again to wait for that"));
    }
    erasure.waiting.clear();
  }

  /// Rejects all waiting callers, because the writer stops.
  void refuseAll(Rejection rejection) {
    for (var erasure : outstanding.values()) {
      for (var done : erasure.waiting) {
        if (!done.settled()) {
          done.settle(rejection);
        }
      }
    }
  }
}
