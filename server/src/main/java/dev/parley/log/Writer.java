package dev.parley.log;

import dev.parley.protocol.Rejection;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
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
final class Writer implements AutoCloseable {

  private static final Logger LOG = System.getLogger(Writer.class.getName());
  private static final String NAME = "parley-log-writer";
  private static final long RETRY_MILLIS = 200;
  private static final long READERS_MILLIS = 1_000;
  private static final long REWRITE_PAUSE_MILLIS = 5;
  private static final Duration STOP_MAX = Duration.ofSeconds(5);

  private final Parts parts;
  private final StoreHandle store;
  private final Commits commits;
  private final Checkpointer checkpointer;
  private final Eraser eraser;
  private final LinkedBlockingQueue<Work> queue = new LinkedBlockingQueue<>();
  private final Queue<LiveContext> suspects = new ArrayDeque<>();
  // Created in advance, as memory may be exhausted when they are needed.
  private final Rejection closed = unavailable("the log is closed");
  private final Rejection unknown =
      unavailable("the log has failed, and it is not known whether this was written");
  private final List<Runnable> lastSteps =
      List.of(this::refuseTaken, this::refuseRest, this::letReadersGo, this::closeStore);
  private final Thread thread;
  private List<Ticket> working = List.of();
  private @Nullable Work taken;
  private long nextBlock;
  private boolean closing;
  private final Outage outage =
      new Outage(LOG, "the log cannot be written", "the log can be written again");
  private volatile boolean down;
  private volatile String failure = "the store cannot be written";
  private volatile boolean stopped;

  /// An item in the queue of the writer thread.
  private sealed interface Work {
    record Append(Ticket ticket) implements Work {}

    record Erase(LiveContext context, Ticket done) implements Work {}

    /// Makes the writer check for other work.
    record Wake() implements Work {}

    record Stop() implements Work {}
  }

  /// The dependencies of the writer.
  record Parts(
      Database database,
      Tuning tuning,
      Fault fault,
      Waker waker,
      Pulse pulse,
      Unsealed unsealed,
      WindowMemory windows,
      ReaderGate gate,
      LogMetrics metrics,
      FatalHandler fatal) {}

  Writer(Parts parts, BlockTable table, long nextBlock) throws SQLException {
    this.parts = parts;
    this.store = new StoreHandle(parts.database(), table);
    this.commits = new Commits(parts, nextBlock - 1);
    var pending = table.erasures().pending();
    this.checkpointer = new Checkpointer(parts.database(), this::wake, parts.fatal());
    this.eraser = new Eraser(parts, store, checkpointer, this::wake);
    eraser.resume(pending);
    this.nextBlock = nextBlock;
    this.thread = Thread.ofPlatform().name(NAME).start(this::run);
  }

  /// Queues an append. The caller holds the context's lock, so that the appends of a context stay
  /// in order.
  void submit(Ticket ticket) {
    add(new Work.Append(ticket));
  }

  /// Queues the deletion of a context, or the wait for the end of a deletion.
  void erase(LiveContext context, Ticket done) {
    add(new Work.Erase(context, done));
  }

  /// True if the deleted context with this number has data left to erase.
  boolean erasing(long number) {
    return eraser.erasing(number);
  }

  private void add(Work work) {
    queue.add(work);
    if (stopped) {
      refuseRest();
    }
  }

  private void wake() {
    queue.add(new Work.Wake());
  }

  /// The reason why the store cannot be written; empty if it can be.
  Optional<String> failure() {
    return down ? Optional.of(failure) : Optional.empty();
  }

  /// The last block that is visible to readers.
  long visible() {
    return commits.visible();
  }

  @Override
  public void close() {
    queue.add(new Work.Stop());
    Threads.join(thread);
  }

  /// Stops the writer, because another part of the log has failed. Returns when the waiting appends
  /// are answered, or after a time limit.
  void stop() {
    down = true;
    queue.add(new Work.Stop());
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
    try {
      while (!closing) {
        step();
      }
    } catch (Throwable bug) { // The root of a thread: no caller may wait for ever.
      failure = bug;
    }
    // From here on, any step may fail for lack of memory, and the others must still run.
    down = true;
    stopped = true;
    for (var i = 0; i < lastSteps.size(); i++) {
      try {
        lastSteps.get(i).run();
      } catch (Throwable further) { // The root of a thread, too.
        failure = failure == null ? further : failure;
      }
    }
    if (failure != null) {
      parts.fatal().failed(NAME, failure);
    }
  }

  /// Rejects the work that the writer has already taken from the queue.
  private void refuseTaken() {
    for (var i = 0; i < working.size(); i++) {
      settle(working.get(i), unknown);
    }
    refuse(taken);
  }

  private void refuseRest() {
    eraser.refuseAll(closed);
    Work work;
    while ((work = queue.poll()) != null) {
      refuse(work);
    }
  }

  private void letReadersGo() {
    eraser.pause();
  }

  private void closeStore() {
    checkpointer.close();
    store.close();
  }

  private void refuse(@Nullable Work work) {
    switch (work) {
      case Work.Append(var ticket) -> settle(ticket, closed);
      case Work.Erase(var context, var done) -> {
        context.deleting = false;
        settle(done, closed);
      }
      case Work.Wake(), Work.Stop() -> {}
      case null -> {}
    }
  }

  private void step() throws InterruptedException {
    var tuning = parts.tuning();
    var batch = new ArrayList<Ticket>();
    working = batch;
    var next = take();
    var events = 0;
    var bytes = 0;
    while (next instanceof Work.Append(var ticket)) {
      batch.add(ticket);
      events += ticket.slots().size();
      bytes += ticket.chunk().length;
      if (events >= tuning.batchEvents() || bytes >= tuning.batchBytes()) {
        break;
      }
      next = queue.poll();
      taken = next;
    }
    write(current(batch));
    working = List.of();
    switch (next) {
      case null -> {}
      case Work.Append _, Work.Wake _ -> {}
      case Work.Erase(var context, var done) -> beginErasing(context, done);
      case Work.Stop() -> closing = true;
    }
    taken = null;
    tidyWal();
    if (!closing) {
      eraser.step();
    }
  }

  /// The next item, or null if there is data to erase.
  private @Nullable Work take() throws InterruptedException {
    var idle = eraser.idleNanos();
    taken = idle < 0 ? queue.take() : queue.poll(idle, TimeUnit.NANOSECONDS);
    return taken;
  }

  /// The appends whose positions are still valid. Rejects those that follow lost events.
  private static List<Ticket> current(List<Ticket> arrived) {
    var current = new ArrayList<Ticket>(arrived.size());
    for (var ticket : arrived) {
      var fork = ticket.fork();
      if (fork != null && fork.source().deleted()) {
        rollBack(ticket.context());
        ticket.settle(new Rejection.Gone("the context was deleted: " + fork.source().id));
      } else if (ticket.current()) {
        current.add(ticket);
      } else if (ticket.context().deleted()) {
        ticket.settle(new Rejection.Gone("the context was deleted: " + ticket.context().id));
      } else {
        ticket.settle(unavailable("the store failed in an earlier write to this context"));
      }
    }
    return current;
  }

  private void write(List<Ticket> tickets) throws InterruptedException {
    if (tickets.isEmpty()) {
      return;
    }
    var deleting = parts.unsealed().deletable(bytes(tickets));
    var commit = new Commit(nextBlock++, tickets, sealing(tickets), deleting);
    try {
      write(commit);
    } catch (SQLException inDoubt) {
      resolve(commit, inDoubt);
    } catch (RuntimeException bug) {
      LOG.log(Level.ERROR, "a commit failed", bug);
      writeWithoutSealing(commit, bug);
    }
  }

  private void write(Commit commit) throws SQLException {
    var begin = System.nanoTime();
    commits.write(store.table(), commit);
    commits.publish(commit);
    var nanos = System.nanoTime() - begin;
    parts.metrics().committed(commit.tickets(), nanos);
    eraser.committed(nanos);
  }

  /// Handles an unexpected failure, probably of saving a state. The appends are written without
  /// sealing, and later commits seal those contexts one by one, to exclude the one that fails.
  private void writeWithoutSealing(Commit commit, RuntimeException bug)
      throws InterruptedException {
    var needed = neededByForks(commit.tickets());
    var optional = commit.sealing().stream().filter(context -> !needed.contains(context)).toList();
    if (optional.isEmpty()) {
      resolve(commit, bug);
      return;
    }
    store.close();
    if (optional.size() == 1) {
      parts.unsealed().spare(optional);
    } else {
      suspects.addAll(optional);
    }
    var again = new Commit(commit.id(), commit.tickets(), List.copyOf(needed), commit.deleting());
    try {
      if (store.table().hasBlock(commit.id())) {
        resolve(commit, bug);
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

  private List<LiveContext> sealing(List<Ticket> tickets) {
    var sealing = neededByForks(tickets);
    var suspect = suspects.poll();
    if (suspect != null) {
      if (suspect.unsealedCount > 0) {
        sealing.add(suspect);
      }
    } else {
      sealing.addAll(parts.unsealed().due(tickets));
    }
    return List.copyOf(sealing);
  }

  /// The entries that a fork shares must be in segments from the start, because it reads them
  /// there.
  private static Set<LiveContext> neededByForks(List<Ticket> tickets) {
    var needed = new LinkedHashSet<LiveContext>();
    for (var ticket : tickets) {
      var fork = ticket.fork();
      if (fork != null && fork.needsSealing()) {
        needed.add(fork.source());
      }
    }
    return needed;
  }

  private static long bytes(List<Ticket> tickets) {
    return tickets.stream().mapToLong(ticket -> ticket.chunk().length).sum();
  }

  private void resolve(Commit commit, Exception cause) throws InterruptedException {
    fails(cause);
    down = true;
    eraser.pause();
    store.close();
    var lost = new LinkedHashSet<LiveContext>(commit.contexts());
    var told = false;
    var notWritten = false;
    boolean durable;
    while (true) {
      try {
        durable = store.table().hasBlock(commit.id());
        if (durable && rewritten()) {
          break;
        }
        if (!durable) {
          notWritten = true;
          store.table().tryWriting(commit.id(), bytes(commit.tickets()));
          break;
        }
      } catch (SQLException still) {
        fails(still);
      }
      told = true;
      tell(
          commit,
          notWritten
              ? "the store failed: " + cause.getMessage()
              : "the store failed, and it is not yet known whether this was written");
      store.close();
      lost.addAll(refuseQueued("the store cannot be written"));
      if (closing) {
        return;
      }
      TimeUnit.MILLISECONDS.sleep(RETRY_MILLIS);
    }
    if (durable) {
      commits.publish(commit);
    }
    if (told || !durable) {
      lost.forEach(Writer::rollBack);
    }
    // This comes first, so that a caller that retries at once is not rejected.
    down = false;
    tell(commit, "the store failed: " + cause.getMessage());
    outage.over();
  }

  private void fails(Exception cause) {
    failure = String.valueOf(cause.getMessage());
    outage.failed(failure);
  }

  /// Writes the committed data to the disk again: after a failed sync, readable data may be in
  /// memory only. False if readers block this.
  private boolean rewritten() throws SQLException, InterruptedException {
    var deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(READERS_MILLIS);
    parts.gate().close(() -> {});
    try {
      var _ = parts.gate().awaitIdle(READERS_MILLIS);
      while (!store.table().rewriteWal()) {
        // The checkpointer may be running, or a reader in another process.
        if (closing || System.nanoTime() - deadline > 0) {
          return false;
        }
        TimeUnit.MILLISECONDS.sleep(REWRITE_PAUSE_MILLIS);
      }
      return true;
    } finally {
      parts.gate().open();
    }
  }

  private static void tell(Commit commit, String why) {
    commit.tickets().forEach(ticket -> settle(ticket, unavailable(why)));
  }

  private static void rollBack(LiveContext context) {
    context.lock.lock();
    try {
      context.rollBack();
    } finally {
      context.lock.unlock();
    }
  }

  /// Rejects all queued work. Returns the contexts whose state is now ahead of the written events.
  private Set<LiveContext> refuseQueued(String why) {
    var waiting = new ArrayList<Work>();
    queue.drainTo(waiting);
    var contexts = new LinkedHashSet<LiveContext>();
    for (var work : waiting) {
      switch (work) {
        case Work.Append(var ticket) -> {
          contexts.add(ticket.context());
          settle(ticket, unavailable(why));
        }
        case Work.Erase(var context, var done) -> {
          context.deleting = false;
          settle(done, unavailable(why));
        }
        case Work.Wake() -> {}
        case Work.Stop() -> closing = true;
      }
    }
    return contexts;
  }

  private static void settle(Ticket ticket, Rejection rejection) {
    if (!ticket.settled()) {
      ticket.settle(rejection);
    }
  }

  private static Rejection unavailable(String why) {
    return new Rejection.Unavailable(why);
  }

  private void beginErasing(LiveContext context, Ticket done) throws InterruptedException {
    if (context.deleted()) {
      eraser.join(context.number, done);
      return;
    }
    if (context.status == LiveContext.Status.ABSENT) {
      // The context was never durable: there is nothing to erase, and no row for a tombstone.
      context.deleting = false;
      settle(done, new Rejection.NotFound("no such context: " + context.id));
      return;
    }
    var mark = nextBlock++;
    List<Long> numbers;
    try {
      numbers = store.table().erasures().begin(context, mark);
    } catch (SQLException inDoubt) {
      LOG.log(
          Level.WARNING, "context {0} cannot be deleted: {1}", context.id, inDoubt.getMessage());
      if (!erasedAfterAll(context)) {
        context.deleting = false;
        settle(done, unavailable("the store failed: " + inDoubt.getMessage()));
        return;
      }
      numbers = pendingWith(context);
    } catch (RuntimeException bug) {
      LOG.log(Level.ERROR, "context " + context.id + " cannot be deleted", bug);
      store.close();
      context.deleting = false;
      settle(done, unavailable("the context cannot be deleted: " + bug.getMessage()));
      return;
    }
    parts.unsealed().forget(context);
    context.lock.lock();
    try {
      context.erased(mark);
    } finally {
      context.lock.unlock();
    }
    commits.visible(mark);
    parts.waker().wake(context);
    eraser.begin(context.number, numbers, done);
  }

  private List<Long> pendingWith(LiveContext context) {
    var numbers = new ArrayList<>(List.of(context.number));
    try {
      for (var number : store.table().erasures().pending()) {
        if (number != context.number && !eraser.erasing(number)) {
          numbers.add(number);
        }
      }
    } catch (SQLException later) {
      LOG.log(Level.DEBUG, "erasure postponed to the next start: {0}", later.getMessage());
    }
    return numbers;
  }

  private boolean erasedAfterAll(LiveContext context) throws InterruptedException {
    down = true;
    eraser.pause();
    var lost = new LinkedHashSet<LiveContext>();
    while (true) {
      store.close();
      try {
        var erased = store.table().erasures().isErased(context);
        lost.forEach(Writer::rollBack);
        down = false;
        return erased;
      } catch (SQLException still) {
        lost.addAll(refuseQueued("the store cannot be written"));
        if (closing) {
          return false;
        }
        TimeUnit.MILLISECONDS.sleep(RETRY_MILLIS);
      }
    }
  }

  /// Requests a checkpoint if it is due, and restarts the write-ahead log when a checkpoint has
  /// finished.
  private void tidyWal() {
    if (commits.takeCheckpointDue()) {
      checkpointer.request();
    }
    var copied = checkpointer.takeCopied();
    if (copied == null || eraser.copied(copied) || !copied.succeeded()) {
      return;
    }
    try {
      if (!store.table().restartWal()) {
        eraser.wantRestart();
      }
    } catch (SQLException failed) {
      LOG.log(Level.DEBUG, "checkpoint postponed: {0}", failed.getMessage());
      store.close();
    }
  }
}
