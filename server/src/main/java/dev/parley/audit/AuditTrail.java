package dev.parley.audit;

import dev.parley.audit.AuditRecord.ChainPoint;
import dev.parley.audit.AuditTable.TimedEvent;
import dev.parley.protocol.Rejection;
import dev.parley.runtime.Threads;
import dev.parley.runtime.Time;
import java.lang.System.Logger.Level;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// The audit trail: an append-only, hash-chained list of what people and programs did.
///
/// Many threads record events. One platform thread writes all that wait in one transaction. It and
/// the database exist only after the first event, so a server that records nothing needs neither.
/// If the database cannot be written, events wait in memory, up to a limit. The monitor guards the
/// waiting events.
public final class AuditTrail implements AutoCloseable {

  private static final System.Logger LOG = System.getLogger(AuditTrail.class.getName());

  /// How many events wait at most while the database cannot be written.
  static final int WAITING_MAX = 10_000;

  /// How many equal refusals within a minute are recorded one by one.
  static final int REFUSALS_MAX = 20;

  private static final int BATCH_MAX = 500;
  private static final Duration REFUSAL_WINDOW = Duration.ofMinutes(1);
  private static final Duration ACCESS_WINDOW = Duration.ofHours(1);
  private static final Duration RETENTION_INTERVAL = Duration.ofHours(1);

  private final AuditSettings settings;
  private final AuditTable table;
  private final Time time;
  private final ExecutorService thread;
  private final RepeatLimiter refusals;
  private final RepeatLimiter accesses;
  private final List<Waiting> waiting = new ArrayList<>();
  private volatile boolean failing;
  private volatile boolean used;
  // For the thread.
  private @Nullable Long retainedNanos;
  private boolean wroteAny;

  /// An event that is not durable yet, and what completes when it is.
  private record Waiting(TimedEvent event, CompletableFuture<Void> written) {}

  public AuditTrail(AuditDatabase database, AuditSettings settings, Time time, Threads threads) {
    this.settings = settings;
    this.table = new AuditTable(database);
    this.time = time;
    this.thread = Executors.newSingleThreadExecutor(threads.platformFactory("parley-audit"));
    this.refusals = new RepeatLimiter(REFUSALS_MAX, REFUSAL_WINDOW, time);
    this.accesses = new RepeatLimiter(1, ACCESS_WINDOW, time);
  }

  /// A trail that records nothing.
  public static AuditTrail disabled(Time time, Threads threads) {
    return new AuditTrail(
        AuditDatabase.file(Path.of("")),
        new AuditSettings(false, Duration.ZERO, false),
        time,
        threads);
  }

  /// Records an event, and returns when it is durable. If it cannot be written now, it waits in
  /// memory, and the reason is logged.
  public void record(AuditEvent event) {
    await(submit(event));
  }

  /// Records an event soon. A crash can lose it.
  public void recordSoon(AuditEvent event) {
    var _ = submit(event);
  }

  /// Records a refusal, and returns when it is durable. Of many equal refusals from one address
  /// within a minute, only the first ones and the number of the others are recorded.
  public void recordRefusal(AuditEvent event) {
    var actor = event.actor();
    var key = List.of(actor.address(), actor.principal(), event.action(), event.code());
    if (!settings.enabled()) {
      return;
    }
    if (refusals.count(key, event)) {
      record(event);
    } else {
      recordSummaries(false);
    }
  }

  /// Records soon that somebody uses what belongs to another; once within an hour.
  public void recordAccess(AuditEvent event) {
    var actor = event.actor();
    if (settings.enabled()
        && accesses.count(
            List.of(actor.principal(), actor.credential(), event.action(), event.target()),
            event)) {
      recordSoon(event);
    }
  }

  /// Rejects an act that could not be recorded, if the configuration requires a record of each.
  ///
  /// @throws Rejection.Unavailable if the trail cannot be written
  public void checkWritable() {
    if (settings.required() && settings.enabled() && failing) {
      await(runOnThread(this::writeWaiting));
      if (failing) {
        throw new Rejection.Unavailable(
            "this is not possible while the audit trail cannot be written; see the server's log");
      }
    }
  }

  /// True if nothing is recorded.
  public boolean disabled() {
    return !settings.enabled();
  }

  private CompletableFuture<Void> submit(AuditEvent event) {
    if (!settings.enabled()) {
      return CompletableFuture.completedFuture(null);
    }
    recordSummaries(false);
    return enqueue(event);
  }

  private void recordSummaries(boolean all) {
    for (var summary : refusals.takeSummaries(all)) {
      var _ = enqueue(summary);
    }
    var _ = accesses.takeSummaries(all);
  }

  private CompletableFuture<Void> enqueue(AuditEvent event) {
    var written = new CompletableFuture<Void>();
    synchronized (waiting) {
      if (waiting.size() >= WAITING_MAX) {
        LOG.log(
            Level.ERROR,
            "the audit trail loses an event, because too many wait: {0} by {1}",
            event.action(),
            event.actor().principal());
        written.complete(null);
        return written;
      }
      waiting.add(new Waiting(new TimedEvent(time.instant(), event), written));
    }
    used = true;
    try {
      thread.execute(this::writeWaiting);
    } catch (RejectedExecutionException closed) {
      written.completeExceptionally(new Rejection.Unavailable("the server is stopping"));
    }
    return written;
  }

  private static void await(CompletableFuture<Void> written) {
    try {
      written.join();
    } catch (CompletionException unwritten) {
      if (!(unwritten.getCause() instanceof Rejection.Unavailable)) {
        throw unwritten;
      }
      // It was logged, and the event waits.
    }
  }

  /// Writes what waits. Runs on the thread.
  private void writeWaiting() {
    List<Waiting> batch;
    synchronized (waiting) {
      batch = List.copyOf(waiting.subList(0, Math.min(BATCH_MAX, waiting.size())));
    }
    if (batch.isEmpty()) {
      return;
    }
    try {
      table.append(batch.stream().map(Waiting::event).toList());
    } catch (Rejection.Unavailable failed) {
      if (!failing) {
        LOG.log(Level.ERROR, "{0}; events wait until it can be", failed.getMessage());
      }
      failing = true;
      batch.forEach(each -> each.written().completeExceptionally(failed));
      return;
    }
    if (failing) {
      LOG.log(Level.WARNING, "the audit trail can be written again");
      failing = false;
    }
    wroteAny = true;
    synchronized (waiting) {
      waiting.subList(0, batch.size()).clear();
    }
    batch.forEach(each -> each.written().complete(null));
    deleteOld();
  }

  /// Deletes records that are too old, now and then. Runs on the thread.
  private void deleteOld() {
    var now = time.nanos();
    if (settings.retention().isZero()
        || (retainedNanos != null && now - retainedNanos < RETENTION_INTERVAL.toNanos())) {
      return;
    }
    retainedNanos = now;
    try {
      var deleted = table.deleteOlderThan(settings.retention(), time.instant());
      if (deleted > 0) {
        var event =
            AuditEvent.done(AuditEvent.Actor.SERVER, "audit-records-deleted", "")
                .with("count", Long.toString(deleted));
        table.append(List.of(new TimedEvent(time.instant(), event)));
      }
    } catch (Rejection.Unavailable failed) {
      LOG.log(Level.WARNING, "old records were not deleted: {0}", failed.getMessage());
    }
  }

  /// Reads a page of records that are durable.
  ///
  /// @throws Rejection.Unavailable if the database cannot be read
  public List<AuditRecord> read(AuditQuery query) {
    return get(() -> table.read(query));
  }

  /// The ends of the chain: what `anchor` and `head` mean is in [ChainEnds].
  ///
  /// @throws Rejection.Unavailable if the database cannot be read
  public ChainEnds ends() {
    var points = get(table::ends);
    return new ChainEnds(points.anchor(), points.head());
  }

  /// The last record that was deleted because of its age, and the newest record.
  public record ChainEnds(ChainPoint anchor, ChainPoint head) {}

  private CompletableFuture<Void> runOnThread(Runnable work) {
    try {
      used = true;
      return CompletableFuture.runAsync(work, thread);
    } catch (RejectedExecutionException closed) {
      throw new Rejection.Unavailable("the audit trail is not available: the server is stopping");
    }
  }

  private <T> T get(Supplier<T> work) {
    try {
      used = true;
      return CompletableFuture.supplyAsync(work, thread).join();
    } catch (RejectedExecutionException closed) {
      throw new Rejection.Unavailable("the audit trail is not available: the server is stopping");
    } catch (CompletionException failed) {
      throw failed.getCause() instanceof Rejection rejection ? rejection : failed;
    }
  }

  /// Writes what waits, and closes the database.
  @Override
  public void close() {
    if (thread.isShutdown()) {
      return;
    }
    if (settings.enabled()) {
      recordSummaries(true);
    }
    if (!used) {
      thread.shutdown();
      return;
    }
    thread.execute(
        () -> {
          writeWaiting();
          if (wroteAny) {
            LOG.log(Level.DEBUG, "the audit trail ends with {0}", table.ends().head());
          }
          table.disconnect();
        });
    thread.close();
  }
}
