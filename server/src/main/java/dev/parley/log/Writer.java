package dev.parley.log;

import dev.parley.protocol.Rejection;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/// The one thread that writes the log: takes all that waits, commits it, makes it visible.
///
/// A commit that fails is in doubt. The writer then reopens the store and looks: if the block is there
/// it was durable after all and becomes visible, otherwise it never existed, its appends are refused
/// and the contexts go back to what is durable, as a new generation. Nothing is numbered on top of
/// what was lost: an append of an earlier generation is refused. While it cannot look, appends are
/// told that the outcome is unknown, and nothing is rolled back, as it may yet turn out durable.
final class Writer implements AutoCloseable {

  private static final Logger LOG = System.getLogger(Writer.class.getName());
  private static final long RETRY_MILLIS = 200;
  private static final long TRUNCATE_PAUSE_MILLIS = 10;
  private static final int TRUNCATE_ATTEMPTS = 500;

  private final Parts parts;
  private final StoreHandle store;
  private final Commits commits;
  private final Checkpointer checkpointer;
  private final LinkedBlockingQueue<Work> queue = new LinkedBlockingQueue<>();
  private final Thread thread;
  private List<Ticket> working = List.of();
  private long nextBlock;
  private boolean closing;
  private volatile boolean down;
  private volatile boolean stopped;

  /// Something for the writer's thread to do.
  private sealed interface Work {
    record Append(Ticket ticket) implements Work {}

    record Erase(LiveContext context, Ticket done) implements Work {}

    /// What is left of a deletion: to empty the write-ahead log, as soon as no reader uses it.
    record Truncate(Ticket done, int attempts) implements Work {}

    record Stop() implements Work {}
  }

  /// What the writer works with.
  record Parts(
      Database database,
      Tuning tuning,
      Fault fault,
      Waker waker,
      Pulse pulse,
      Unsealed unsealed,
      WindowMemory windows,
      LogMetrics metrics) {}

  Writer(Parts parts, BlockTable table, long nextBlock) {
    this.parts = parts;
    this.store = new StoreHandle(parts.database(), table);
    this.commits = new Commits(parts, nextBlock - 1);
    this.checkpointer = new Checkpointer(parts.database());
    this.nextBlock = nextBlock;
    this.thread = Thread.ofPlatform().name("parley-log-writer").start(this::run);
  }

  /// Queues an append. The caller holds the context's lock, so that the queue keeps its order.
  void submit(Ticket ticket) {
    add(new Work.Append(ticket));
  }

  /// Queues the removal of a context.
  void erase(LiveContext context, Ticket done) {
    add(new Work.Erase(context, done));
  }

  private void add(Work work) {
    queue.add(work);
    if (stopped) {
      refuseQueued("the log is closed");
    }
  }

  /// True while the store cannot be written.
  boolean down() {
    return down;
  }

  /// The last block of which all entries can be read.
  long visible() {
    return commits.visible();
  }

  @Override
  public void close() {
    queue.add(new Work.Stop());
    Threads.join(thread);
  }

  private void run() {
    try {
      while (!closing) {
        step();
      }
    } catch (InterruptedException nobodyInterruptsThis) {
      LOG.log(Level.ERROR, "the log's writer was interrupted", nobodyInterruptsThis);
    } catch (Throwable bug) { // The root of a thread: nobody may wait for it for ever.
      LOG.log(Level.ERROR, "the log's writer failed; restart the server", bug);
    }
    down = true;
    stopped = true;
    working.forEach(ticket -> settle(ticket, unavailable("the log is closed")));
    refuseQueued("the log is closed");
    checkpointer.close();
    store.close();
  }

  private void step() throws InterruptedException {
    var tuning = parts.tuning();
    var batch = new ArrayList<Ticket>();
    var next = queue.take();
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
    }
    working = batch;
    write(current(batch));
    working = List.of();
    switch (next) {
      case null -> {}
      case Work.Append _ -> {}
      case Work.Erase(var context, var done) -> erase(context, done, nextBlock++);
      case Work.Truncate(var done, var attempts) -> truncate(done, attempts);
      case Work.Stop() -> closing = true;
    }
  }

  /// The appends whose numbers still count; those built on what was lost since are refused.
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
    var commit = new Commit(nextBlock++, tickets, sealing(tickets));
    var begin = System.nanoTime();
    try {
      commits.write(store.table(), commit);
    } catch (SQLException inDoubt) {
      resolve(commit, inDoubt);
      return;
    } catch (RuntimeException bug) {
      // Most likely a state that cannot be saved: leave those unsealed rather than fail for ever.
      LOG.log(Level.ERROR, "a commit failed", bug);
      parts.unsealed().spare(commit.sealing());
      resolve(commit, bug);
      return;
    }
    commits.publish(commit);
    parts.metrics().committed(tickets, System.nanoTime() - begin);
    checkpointIfLarge();
  }

  /// What a fork shares must be in segments from the start: it is read from there.
  private List<LiveContext> sealing(List<Ticket> tickets) {
    var sealing = new LinkedHashSet<>(parts.unsealed().due(tickets));
    for (var ticket : tickets) {
      var fork = ticket.fork();
      if (fork != null && fork.needsSealing()) {
        sealing.add(fork.source());
      }
    }
    return List.copyOf(sealing);
  }

  private void resolve(Commit commit, Exception cause) throws InterruptedException {
    LOG.log(Level.WARNING, "the log cannot be written: {0}", cause.getMessage());
    down = true;
    store.close();
    var lost = new LinkedHashSet<LiveContext>(commit.contexts());
    var told = false;
    boolean durable;
    while (true) {
      try {
        durable = store.table().hasBlock(commit.id());
        break;
      } catch (SQLException still) {
        told = true;
        tell(commit, "the store failed, and whether this was written is not yet known");
        store.close();
        lost.addAll(refuseQueued("the store cannot be written"));
        if (closing) {
          return;
        }
        TimeUnit.MILLISECONDS.sleep(RETRY_MILLIS);
      }
    }
    if (durable) {
      commits.publish(commit);
    }
    if (told || !durable) {
      lost.forEach(Writer::rollBack);
    }
    // Before they are told, so that nobody who tries again at once is refused.
    down = false;
    tell(commit, "the store failed: " + cause.getMessage());
    LOG.log(Level.INFO, "the log can be written again");
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

  /// Refuses all that waits. Returns the contexts whose state is now ahead of what will be written.
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
        case Work.Truncate(var done, _) -> settle(done, unavailable(why));
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

  private void erase(LiveContext context, Ticket done, long mark) throws InterruptedException {
    try {
      store.table().eraseRows(context, mark, parts.unsealed().emptiedBy(List.of(context)));
    } catch (SQLException inDoubt) {
      LOG.log(Level.WARNING, "{0} cannot be deleted: {1}", context.id, inDoubt.getMessage());
      if (!erasedAfterAll(context)) {
        context.deleting = false;
        settle(done, unavailable("the store failed: " + inDoubt.getMessage()));
        return;
      }
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
    eraseLeftovers(done);
  }

  private boolean erasedAfterAll(LiveContext context) throws InterruptedException {
    down = true;
    var lost = new LinkedHashSet<LiveContext>();
    while (true) {
      store.close();
      try {
        var erased = store.table().isErased(context);
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

  private void eraseLeftovers(Ticket done) throws InterruptedException {
    try {
      store.table().eraseFreePages();
      truncate(done, TRUNCATE_ATTEMPTS);
    } catch (SQLException failed) {
      store.close();
      settle(done, leftovers(failed));
    }
  }

  private void truncate(Ticket done, int attempts) throws InterruptedException {
    try {
      if (store.table().truncateWal()) {
        done.settle(null);
      } else if (attempts == 0) {
        settle(done, leftovers(new SQLException("a reader is in the way")));
      } else {
        TimeUnit.MILLISECONDS.sleep(TRUNCATE_PAUSE_MILLIS);
        queue.add(new Work.Truncate(done, attempts - 1));
      }
    } catch (SQLException failed) {
      store.close();
      settle(done, leftovers(failed));
    }
  }

  private static Rejection leftovers(SQLException why) {
    return unavailable(
        "the context is deleted, but its bytes are not yet overwritten: " + why.getMessage());
  }

  /// Leaves the work to the checkpointer, and only starts the log anew when that has caught up.
  private void checkpointIfLarge() {
    if (commits.takeCheckpointDue()) {
      checkpointer.request();
    }
    if (checkpointer.takeDone()) {
      try {
        store.table().restartWal();
      } catch (SQLException busy) {
        LOG.log(Level.DEBUG, "checkpoint put off: {0}", busy.getMessage());
      }
    }
  }
}
