package dev.parley.log;

import dev.parley.log.BlockStore.LogCommit;
import dev.parley.log.BlockStore.StoreWriter;
import dev.parley.log.WriterQueue.Work;
import dev.parley.protocol.Rejection;
import dev.parley.runtime.Time;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// The only thread that writes the log: it takes all waiting appends, commits them and makes them
/// visible.
///
/// The outcome of a failed commit is unknown. The writer reopens the store and checks: if the block
/// exists, it was durable after all and becomes visible. Otherwise its appends are rejected, and
/// the contexts return to their durable state, as a new generation. An append of an earlier
/// generation is rejected, so no event follows a lost one. While the writer cannot check, appends
/// are rejected with an unknown outcome, and nothing is rolled back, as the block may still turn
/// out to be durable.
final class LogWriter implements AutoCloseable {

  private static final Logger LOG = System.getLogger(LogWriter.class.getName());
  private static final String NAME = "parley-log-writer";
  private static final Duration RETRY = Duration.ofMillis(200);
  private static final Duration READERS_MAX = Duration.ofSeconds(1);
  private static final Duration SECURE_PAUSE = Duration.ofMillis(5);
  private static final Duration STOP_MAX = Duration.ofSeconds(5);
  private static final Duration SEALING_AT_STOP_MAX = Duration.ofSeconds(3);

  private final LogWriterDependencies dependencies;
  private final WriterConnection store;
  private final CommitWriter commitWriter;
  private final Checkpointer checkpointer;
  private final ContextEraser contextEraser;
  private final SealingSchedule sealingSchedule;
  private final KeyRotation keyRotation;
  private final Time time;
  private final WriterQueue queue;
  // Created in advance, as memory may be exhausted when they are needed.
  private final Rejection closed = unavailable("the log is closed");
  private final Rejection unknown =
      unavailable("the log has failed, and it is not known whether this was written");
  private final List<Runnable> shutdownSteps =
      List.of(this::rejectTaken, this::rejectRemaining, this::releaseReaders, this::closeStore);
  private final Thread thread;
  private List<PendingAppend> working = List.of();
  private @Nullable Work taken;
  private long nextBlock;
  private boolean closing;
  private final OutageLogger outageLogger;
  private volatile boolean down;
  private volatile String failure = "the store cannot be written";
  private volatile boolean stopped;

  LogWriter(LogWriterDependencies logWriterDependencies, StoreWriter first, long nextBlock)
      throws SQLException {
    this.dependencies = logWriterDependencies;
    this.time = logWriterDependencies.time();
    this.queue = new WriterQueue(time);
    this.outageLogger =
        new OutageLogger(LOG, "the log cannot be written", "the log can be written again", time);
    this.store = new WriterConnection(logWriterDependencies.store(), first);
    this.commitWriter = new CommitWriter(logWriterDependencies, nextBlock - 1);
    var pending = first.pendingErasures();
    this.checkpointer =
        new Checkpointer(
            logWriterDependencies.store(),
            queue::wake,
            logWriterDependencies.threads(),
            logWriterDependencies.fatal());
    this.contextEraser = new ContextEraser(logWriterDependencies, store, checkpointer, queue::wake);
    contextEraser.resume(pending);
    this.keyRotation = new KeyRotation(store, time, queue::wake);
    keyRotation.resume(first.hasOldWrappingKeys());
    this.sealingSchedule =
        new SealingSchedule(logWriterDependencies.unsealed(), time, nextBlock - 1);
    this.nextBlock = nextBlock;
    this.thread = logWriterDependencies.threads().unstartedEssential(NAME, this::run);
    thread.start();
  }

  /// Queues an append. The caller holds the context's lock, so that the appends of a context stay
  /// in order.
  void submit(PendingAppend pendingAppend) {
    add(new Work.Append(pendingAppend));
  }

  /// Queues the deletion of a context, or the wait for the end of a deletion.
  void erase(CachedContext context, PendingAppend done) {
    add(new Work.Erase(context, done));
  }

  /// True if the deleted context with this number has data left to erase.
  boolean erasing(long number) {
    return contextEraser.erasing(number);
  }

  private void add(Work work) {
    queue.add(work);
    if (stopped) {
      rejectRemaining();
    }
  }

  /// The reason why the store cannot be written; empty if it can be.
  Optional<String> failure() {
    return down ? Optional.of(failure) : Optional.empty();
  }

  /// The rotation of keys.
  KeyRotation keyRotation() {
    return keyRotation;
  }

  /// The last block that is visible to readers.
  long visible() {
    return commitWriter.visible();
  }

  @Override
  public void close() {
    queue.stop();
    CriticalThread.join(thread);
  }

  /// Stops the writer, because another part of the log has failed. Returns when the waiting appends
  /// are answered, or after a time limit.
  void stop() {
    down = true;
    queue.stop();
    if (!thread.equals(Thread.currentThread())) {
      try {
        var _ = thread.join(STOP_MAX);
      } catch (InterruptedException closing) {
        Thread.currentThread().interrupt();
      }
    }
  }

  private void run() {
    Throwable failure = null;
    queue.open();
    try {
      while (!closing) {
        step();
      }
      sealRemaining();
    } catch (Throwable bug) { // The root of a thread: no caller may wait for ever.
      failure = bug;
    }
    // From here on, any step may fail for lack of memory, and the others must still run.
    down = true;
    stopped = true;
    for (var i = 0; i < shutdownSteps.size(); i++) {
      try {
        shutdownSteps.get(i).run();
      } catch (Throwable further) { // The root of a thread, too.
        failure = failure == null ? further : failure;
      }
    }
    if (failure != null) {
      dependencies.fatal().failed(NAME, failure);
    }
  }

  /// Rejects the work that the writer has already taken from the queue.
  private void rejectTaken() {
    for (var i = 0; i < working.size(); i++) {
      complete(working.get(i), unknown);
    }
    reject(taken);
  }

  private void rejectRemaining() {
    contextEraser.rejectAll(closed);
    Work work;
    while ((work = queue.poll()) != null) {
      reject(work);
    }
  }

  private void releaseReaders() {
    contextEraser.pause();
  }

  private void closeStore() {
    checkpointer.close();
    store.close();
  }

  private void reject(@Nullable Work work) {
    switch (work) {
      case Work.Append(var pendingAppend) -> complete(pendingAppend, closed);
      case Work.Erase(var context, var done) -> {
        context.deleting = false;
        complete(done, closed);
      }
      case Work.Wake(), Work.Stop() -> {}
      case null -> {}
    }
  }

  private void step() throws InterruptedException {
    var logTuning = dependencies.tuning();
    var batch = new ArrayList<PendingAppend>();
    working = batch;
    var next = take();
    var events = 0;
    var bytes = 0;
    while (next instanceof Work.Append(var pendingAppend)) {
      batch.add(pendingAppend);
      events += pendingAppend.events();
      bytes += pendingAppend.chunk().length;
      if (events >= logTuning.batchEvents() || bytes >= logTuning.batchBytes()) {
        break;
      }
      next = queue.poll();
      taken = next;
    }
    write(PendingAppend.keepCurrent(batch));
    working = List.of();
    switch (next) {
      case null -> {}
      case Work.Append _, Work.Wake _ -> {}
      case Work.Erase(var context, var done) -> beginErasing(context, done);
      case Work.Stop() -> closing = true;
    }
    taken = null;
    maintainJournal();
    if (!closing) {
      contextEraser.step();
      keyRotation.step();
      if (next == null && batch.isEmpty()) {
        sealIdle();
      }
    }
  }

  /// The next item, or null if there is data to erase or to seal.
  private @Nullable Work take() throws InterruptedException {
    taken = queue.poll();
    if (taken == null) {
      taken = queue.take(idleNanos());
    }
    return taken;
  }

  private long idleNanos() {
    return soonest(
        contextEraser.idleNanos(), soonest(sealingSchedule.idleNanos(), keyRotation.idleNanos()));
  }

  /// The shorter wait; a negative one means that there is nothing to wait for.
  private static long soonest(long one, long other) {
    return one < 0 || other < 0 ? Math.max(one, other) : Math.min(one, other);
  }

  private void write(List<PendingAppend> tickets) throws InterruptedException {
    if (!tickets.isEmpty()) {
      commit(tickets, sealingSchedule.with(tickets));
    }
  }

  /// Seals contexts, then deletes blocks that are no longer needed, while no append waits.
  private void sealIdle() throws InterruptedException {
    var done = seal(sealingSchedule.idle());
    if (done && sealingSchedule.mayDelete()) {
      done = deleteStale();
    }
    if (!done) {
      sealingSchedule.postpone(nextBlock - 1);
    }
  }

  /// Seals all contexts and deletes their blocks, so that the next start need not read them. A
  /// context that cannot be sealed stays as it is.
  private void sealRemaining() throws InterruptedException {
    var deadline = time.deadline(SEALING_AT_STOP_MAX);
    var left = sealingSchedule.remaining();
    while (!left.isEmpty() && !down && time.remaining(deadline) > 0 && seal(left)) {
      left = sealingSchedule.remaining();
    }
    var deleted = true;
    while (deleted && !down && time.remaining(deadline) > 0) {
      deleted = deleteStale();
    }
  }

  /// Deletes blocks that are no longer needed, by a commit that does nothing else. False if there are
  /// none, or if that fails.
  private boolean deleteStale() throws InterruptedException {
    var before = dependencies.unsealed().stale().emptiedBytes();
    if (before > 0) {
      var deleting = dependencies.unsealed().deletableAlone();
      commit(new LogCommit(nextBlock++, List.of(), List.of(), deleting));
    }
    return dependencies.unsealed().stale().emptiedBytes() < before;
  }

  /// Seals these contexts by a commit without appends. False if that fails.
  private boolean seal(List<CachedContext> contexts) throws InterruptedException {
    if (!contexts.isEmpty()) {
      commit(List.of(), contexts);
    }
    return contexts.stream().allMatch(context -> context.unsealedCount == 0);
  }

  private void commit(List<PendingAppend> tickets, List<CachedContext> sealing)
      throws InterruptedException {
    var id = nextBlock++;
    var size = new LogCommit(id, tickets, sealing, List.of()).bytes();
    commit(new LogCommit(id, tickets, sealing, dependencies.unsealed().deletable(size)));
  }

  private void commit(LogCommit logCommit) throws InterruptedException {
    try {
      write(logCommit);
    } catch (SQLException inDoubt) {
      resolve(logCommit, inDoubt);
    } catch (RuntimeException bug) {
      LOG.log(Level.ERROR, "a commit failed", bug);
      writeWithoutSealing(logCommit, bug);
    }
  }

  private void write(LogCommit logCommit) throws SQLException {
    var begin = time.nanos();
    commitWriter.write(store.writer(), logCommit);
    publish(logCommit);
    var nanos = time.nanos() - begin;
    dependencies.metrics().committed(logCommit.appends(), nanos);
    contextEraser.committed(nanos);
  }

  private void publish(LogCommit logCommit) {
    commitWriter.publish(logCommit);
    if (!logCommit.appends().isEmpty()) {
      sealingSchedule.written(logCommit.id());
    }
  }

  /// Handles an unexpected failure, probably of saving a state. The appends are written without
  /// sealing, and later commits seal those contexts one by one, to exclude the one that fails.
  private void writeWithoutSealing(LogCommit logCommit, RuntimeException bug)
      throws InterruptedException {
    var needed = SealingSchedule.neededByForks(logCommit.appends());
    var optional =
        logCommit.sealing().stream().filter(context -> !needed.contains(context)).toList();
    if (optional.isEmpty()) {
      resolve(logCommit, bug);
      return;
    }
    store.close();
    sealingSchedule.failed(optional);
    var again =
        new LogCommit(
            logCommit.id(), logCommit.appends(), List.copyOf(needed), logCommit.deleting());
    try {
      if (store.writer().hasCommit(logCommit.id())) {
        resolve(logCommit, bug);
      } else {
        write(again);
      }
    } catch (SQLException inDoubt) {
      resolve(again, inDoubt);
    } catch (RuntimeException furtherBug) {
      LOG.log(Level.ERROR, "the commit failed again without sealing", furtherBug);
      resolve(again, furtherBug);
    }
  }

  private void resolve(LogCommit logCommit, Exception cause) throws InterruptedException {
    recordFailure(cause);
    down = true;
    contextEraser.pause();
    store.close();
    var lost = new LinkedHashSet<CachedContext>(logCommit.contexts());
    var told = false;
    var notWritten = false;
    boolean durable;
    while (true) {
      try {
        durable = store.writer().hasCommit(logCommit.id());
        if (durable && secureCommits()) {
          break;
        }
        if (!durable) {
          notWritten = true;
          store.writer().testWrite(logCommit.id(), logCommit.bytes());
          break;
        }
      } catch (SQLException still) {
        recordFailure(still);
      }
      told = true;
      rejectAppends(
          logCommit,
          notWritten
              ? "the store failed: " + cause.getMessage()
              : "the store failed, and it is not yet known whether this was written");
      store.close();
      lost.addAll(rejectQueued("the store cannot be written"));
      if (closing) {
        return;
      }
      queue.pause(RETRY);
    }
    if (durable) {
      publish(logCommit);
    }
    if (told || !durable) {
      lost.forEach(CachedContext::rollBack);
    }
    // This comes first, so that a caller that retries at once is not rejected.
    down = false;
    rejectAppends(logCommit, "the store failed: " + cause.getMessage());
    outageLogger.recovered();
  }

  private void recordFailure(Exception cause) {
    failure = String.valueOf(cause.getMessage());
    outageLogger.failed(failure);
  }

  /// Writes the committed data to the disk again: after a failed sync, readable data may be in
  /// memory only. False if readers block this.
  private boolean secureCommits() throws SQLException, InterruptedException {
    var deadline = time.deadline(READERS_MAX);
    dependencies.gate().close(queue::wake);
    try {
      while (!dependencies.gate().idle() && time.remaining(deadline) > 0) {
        queue.await(deadline);
      }
      while (!store.writer().secureCommits()) {
        // The checkpointer, which wakes this thread at its end, or a reader in another process.
        if (closing || time.remaining(deadline) <= 0) {
          return false;
        }
        queue.await(time.deadline(SECURE_PAUSE));
      }
      return true;
    } finally {
      dependencies.gate().open();
    }
  }

  private static void rejectAppends(LogCommit logCommit, String why) {
    logCommit.appends().forEach(pendingAppend -> complete(pendingAppend, unavailable(why)));
  }

  /// Rejects all queued work. Returns the contexts whose state is now ahead of the written events.
  private Set<CachedContext> rejectQueued(String why) {
    var contexts = new LinkedHashSet<CachedContext>();
    Work work;
    while ((work = queue.poll()) != null) {
      switch (work) {
        case Work.Append(var pendingAppend) -> {
          contexts.add(pendingAppend.context());
          complete(pendingAppend, unavailable(why));
        }
        case Work.Erase(var context, var done) -> {
          context.deleting = false;
          complete(done, unavailable(why));
        }
        case Work.Wake() -> {}
        case Work.Stop() -> closing = true;
      }
    }
    return contexts;
  }

  private static void complete(PendingAppend pendingAppend, Rejection rejection) {
    if (!pendingAppend.completed()) {
      pendingAppend.complete(rejection);
    }
  }

  private static Rejection unavailable(String why) {
    return new Rejection.Unavailable(why);
  }

  private void beginErasing(CachedContext context, PendingAppend done) throws InterruptedException {
    if (context.deleted()) {
      contextEraser.whenErased(context.number, done);
      return;
    }
    if (context.status == CachedContext.ContextStatus.ABSENT) {
      // The context was never durable: there is nothing to erase, and no row for a tombstone.
      context.deleting = false;
      complete(done, new Rejection.NotFound("no such context: " + context.id));
      return;
    }
    var mark = nextBlock++;
    List<Long> numbers;
    try {
      numbers = store.writer().beginErasing(context, mark);
    } catch (SQLException inDoubt) {
      LOG.log(
          Level.WARNING, "context {0} cannot be deleted: {1}", context.id, inDoubt.getMessage());
      if (!erasedAfterAll(context)) {
        context.deleting = false;
        complete(done, unavailable("the store failed: " + inDoubt.getMessage()));
        return;
      }
      numbers = pendingWith(context);
    } catch (RuntimeException bug) {
      LOG.log(Level.ERROR, "context " + context.id + " cannot be deleted", bug);
      store.close();
      context.deleting = false;
      complete(done, unavailable("the context cannot be deleted: " + bug.getMessage()));
      return;
    }
    dependencies.unsealed().removeContext(context);
    context.lock.lock();
    try {
      context.erased(mark);
    } finally {
      context.lock.unlock();
    }
    commitWriter.visible(mark);
    dependencies.waker().wake(context);
    contextEraser.begin(context.number, numbers, done);
  }

  private List<Long> pendingWith(CachedContext context) {
    var numbers = new ArrayList<>(List.of(context.number));
    try {
      for (var number : store.writer().pendingErasures()) {
        if (number != context.number && !contextEraser.erasing(number)) {
          numbers.add(number);
        }
      }
    } catch (SQLException later) {
      LOG.log(Level.DEBUG, "erasure postponed to the next start: {0}", later.getMessage());
    }
    return numbers;
  }

  private boolean erasedAfterAll(CachedContext context) throws InterruptedException {
    down = true;
    contextEraser.pause();
    var lost = new LinkedHashSet<CachedContext>();
    while (true) {
      store.close();
      try {
        var erased = store.writer().isErased(context);
        lost.forEach(CachedContext::rollBack);
        down = false;
        return erased;
      } catch (SQLException still) {
        lost.addAll(rejectQueued("the store cannot be written"));
        if (closing) {
          return false;
        }
        queue.pause(RETRY);
      }
    }
  }

  /// Requests a checkpoint if it is due, and restarts the journal when a checkpoint has
  /// finished.
  private void maintainJournal() {
    if (commitWriter.takeCheckpointDue()) {
      checkpointer.request();
    }
    var copyResult = checkpointer.takeResult();
    if (copyResult == null
        || contextEraser.checkpointFinished(copyResult)
        || !copyResult.succeeded()) {
      return;
    }
    try {
      if (!store.writer().restartJournal()) {
        contextEraser.requestRestart();
      }
    } catch (SQLException failed) {
      LOG.log(Level.DEBUG, "checkpoint postponed: {0}", failed.getMessage());
      store.close();
    }
  }
}
