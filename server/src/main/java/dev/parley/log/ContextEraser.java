package dev.parley.log;

import dev.parley.log.BlockStore.CopyResult;
import dev.parley.log.BlockStore.ErasureSlice;
import dev.parley.protocol.Rejection;
import dev.parley.runtime.Time;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.sql.SQLException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
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
final class ContextEraser {

  private static final Logger LOG = System.getLogger(ContextEraser.class.getName());

  /// The initial size and the limits of a step. Its size adapts so that a step takes about twice
  /// the time of a usual commit and delays appends only a little.
  private static final long SLICE_BYTES = 64 << 10;

  private static final long SLICE_BYTES_MIN = 16 << 10;
  private static final long SLICE_BYTES_MAX = 1 << 20;
  private static final int SLICE_COMMITS = 2;
  private static final long COMMIT_NANOS_MIN = TimeUnit.MICROSECONDS.toNanos(500);

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
  private static final long WAIT_NANOS_MAX = TimeUnit.SECONDS.toNanos(30);

  private final WriterConnection store;
  private final UnsealedBlocks unsealedBlocks;
  private final ReaderGate gate;
  private final Checkpointer checkpointer;
  private final LogMetrics metrics;
  private final long journalBytesMax;
  private final Runnable wake;
  private final Time time;

  private final Map<Long, Erasure> outstanding = new ConcurrentHashMap<>();
  private final ArrayDeque<Erasure> withRows = new ArrayDeque<>();
  private final List<Erasure> withoutRows = new ArrayList<>();
  private TruncationPhase truncationPhase = TruncationPhase.IDLE;
  private boolean restartRequested;
  private long journalBytes;
  private int copies;
  private long sliceBytes = SLICE_BYTES;
  private long commitNanos = COMMIT_NANOS_MIN;
  private long nextSlice;
  private long nextTruncation;
  private long gateDeadline;
  private long gateNanos = GATE_NANOS;
  private long retryNanos = RETRY_NANOS;

  /// The progress of a truncation of the write-ahead log.
  private enum TruncationPhase {
    IDLE,
    COPYING,
    DRAINING
  }

  /// A deleted context with data left to erase, and the callers that wait for the end.
  private static final class Erasure {
    final long number;
    final List<Long> numbers;
    final List<PendingAppend> waiting = new ArrayList<>();
    boolean failed;
    long rowsGone;

    Erasure(long number, List<Long> numbers) {
      this.number = number;
      this.numbers = List.copyOf(numbers);
    }
  }

  /// `wake` makes the writer run a step soon; other threads call it.
  ContextEraser(
      LogWriterDependencies logWriterDependencies,
      WriterConnection store,
      Checkpointer checkpointer,
      Runnable wake) {
    this.store = store;
    this.unsealedBlocks = logWriterDependencies.unsealed();
    this.gate = logWriterDependencies.gate();
    this.metrics = logWriterDependencies.metrics();
    this.journalBytesMax = logWriterDependencies.tuning().walBytes();
    this.checkpointer = checkpointer;
    this.wake = wake;
    this.time = logWriterDependencies.time();
    this.nextSlice = time.nanos();
    this.nextTruncation = nextSlice;
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
  void begin(long number, List<Long> numbers, PendingAppend done) {
    add(number, numbers).waiting.add(done);
  }

  private Erasure add(long number, List<Long> numbers) {
    var erasure = new Erasure(number, numbers);
    outstanding.put(number, erasure);
    withRows.add(erasure);
    return erasure;
  }

  /// Completes `done` when all data of a deleted context is erased.
  void whenErased(long number, PendingAppend done) {
    var erasure = outstanding.get(number);
    if (erasure == null) {
      done.complete(null);
      return;
    }
    erasure.waiting.add(done);
    erasure.rowsGone = time.nanos();
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
  void requestRestart() {
    restartRequested = true;
  }

  /// How long the writer may wait for other work; zero if there is work to do now, negative if
  /// there is none.
  long idleNanos() {
    var now = time.nanos();
    var idle = Long.MAX_VALUE;
    if (mayErase()) {
      idle = nextSlice - now;
    }
    if (truncationPhase == TruncationPhase.IDLE && truncationNeeded()) {
      idle = Math.min(idle, nextTruncation - now);
    }
    if (truncationPhase == TruncationPhase.DRAINING) {
      idle = Math.min(idle, gate.idle() ? 0 : gateDeadline - now);
    }
    return idle == Long.MAX_VALUE ? -1 : Math.max(0, idle);
  }

  /// Runs the next step of each kind that is due.
  void step() {
    var now = time.nanos();
    if (mayErase() && nextSlice - now <= 0) {
      erase(withRows.remove());
    }
    if (truncationPhase == TruncationPhase.IDLE
        && truncationNeeded()
        && nextTruncation - now <= 0) {
      copies = 0;
      copy();
    }
    if (truncationPhase == TruncationPhase.DRAINING) {
      if (gate.idle()) {
        truncate();
      } else if (gateDeadline - now <= 0) {
        gateNanos = Math.min(2 * gateNanos, GATE_NANOS_MAX);
        scheduleRetry("a query is still running");
      }
    }
  }

  /// True if there are rows to erase, and no long write-ahead log is being copied.
  private boolean mayErase() {
    return !withRows.isEmpty() && (!restartRequested || truncationPhase == TruncationPhase.IDLE);
  }

  private boolean truncationNeeded() {
    return restartRequested || !withoutRows.isEmpty();
  }

  private void copy() {
    copies++;
    truncationPhase = TruncationPhase.COPYING;
    checkpointer.request();
  }

  /// Handles the result of a checkpoint. True if this object requested it.
  boolean checkpointFinished(CopyResult result) {
    if (truncationPhase != TruncationPhase.COPYING) {
      return false;
    }
    if (!result.succeeded()) {
      scheduleRetry("the store cannot be read");
    } else if (result.pagesLeft() > PAGES_LEFT_MAX && copies < COPIES_MAX) {
      copy();
    } else {
      truncationPhase = TruncationPhase.DRAINING;
      gateDeadline = time.nanos() + gateNanos;
      gate.close(wake);
    }
    return true;
  }

  private void erase(Erasure erasure) {
    try {
      if (eraseSlice(erasure)) {
        erasure.rowsGone = time.nanos();
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
      reject(erasure, failed.getMessage());
      withRows.add(erasure);
      nextSlice = time.nanos() + RETRY_NANOS_MAX;
    } catch (RuntimeException bug) {
      // Probably a segment cannot be unpacked. The next deletion or start tries again.
      LOG.log(Level.ERROR, "a deleted context cannot be erased", bug);
      store.close();
      reject(erasure, bug.getMessage());
      erasure.failed = true;
    }
  }

  /// Removes some rows in one transaction. True if none are left.
  private boolean eraseSlice(Erasure erasure) throws SQLException {
    var begin = time.nanos();
    var slice = sliceBytes;
    var blocks = new LinkedHashMap<Long, Boolean>();
    for (var block : unsealedBlocks.stale().blocksOf(erasure.number)) {
      blocks.put(block, unsealedBlocks.needs(block));
    }
    var erased =
        store.writer().erase(new ErasureSlice(erasure.number, blocks, erasure.numbers, slice));
    erased.blocks().forEach(block -> unsealedBlocks.stale().erased(block, erasure.number));
    metrics.erased(erased.bytes());
    journalBytes += erased.bytes();
    if (journalBytes > journalBytesMax) {
      journalBytes = 0;
      restartRequested = true;
    }
    if (time.nanos() - begin > SLICE_COMMITS * commitNanos) {
      sliceBytes = Math.max(slice / 2, SLICE_BYTES_MIN);
    } else {
      sliceBytes = Math.min(slice + slice / 4, SLICE_BYTES_MAX);
    }
    return erased.bytes() < slice;
  }

  private void truncate() {
    truncationPhase = TruncationPhase.IDLE;
    var begin = time.nanos();
    var none = withoutRows.isEmpty();
    try {
      var writer = store.writer();
      if (!(none ? writer.restartJournal() : writer.truncateJournal())) {
        scheduleRetry("another process is reading the database");
        return;
      }
      if (!none) {
        writer.finishErasing(finished());
        metrics.truncated();
      }
    } catch (SQLException failed) {
      LOG.log(
          Level.WARNING,
          "erasing deleted contexts failed and will be retried: {0}",
          failed.getMessage());
      store.close();
      withoutRows.forEach(erasure -> reject(erasure, failed.getMessage()));
      scheduleRetry(failed.getMessage());
      return;
    } finally {
      gate.open();
    }
    restartRequested = false;
    gateNanos = GATE_NANOS;
    retryNanos = RETRY_NANOS;
    var now = time.nanos();
    nextTruncation = now + Math.min(PAUSE_FACTOR * (now - begin), PAUSE_NANOS_MAX);
    for (var erasure : withoutRows) {
      outstanding.remove(erasure.number, erasure);
      erasure.waiting.forEach(done -> done.complete(null));
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

  private void scheduleRetry(@Nullable String why) {
    pause();
    var now = time.nanos();
    nextTruncation = now + retryNanos;
    retryNanos = Math.min(2 * retryNanos, RETRY_NANOS_MAX);
    for (var erasure : withoutRows) {
      if (now - erasure.rowsGone > WAIT_NANOS_MAX) {
        reject(erasure, why);
      }
    }
  }

  /// Lets readers continue. Call this before the writer does other work for long.
  void pause() {
    truncationPhase = TruncationPhase.IDLE;
    gate.open();
  }

  private static void reject(Erasure erasure, @Nullable String why) {
    for (var done : erasure.waiting) {
      done.complete(
          new Rejection.Unavailable(
              "the context is deleted, but its data is not yet overwritten: "
                  + why
                  + "; delete it again to wait for that"));
    }
    erasure.waiting.clear();
  }

  /// Rejects all waiting callers, because the writer stops.
  void rejectAll(Rejection rejection) {
    for (var erasure : outstanding.values()) {
      for (var done : erasure.waiting) {
        if (!done.completed()) {
          done.complete(rejection);
        }
      }
    }
  }
}
