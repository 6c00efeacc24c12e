package dev.parley.log;

import dev.parley.log.LiveContext.KeyName;
import dev.parley.protocol.ContextEvent.ContextCreated;
import dev.parley.protocol.Rejection;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/// The one thread that writes the log: takes all that waits, commits it, makes it visible.
///
/// A commit that fails leaves its block in doubt. The writer then reopens the store and looks: if the
/// block is there it was durable after all and becomes visible, otherwise it never existed, its
/// appends are refused and the contexts go back to what is durable, as a new generation. Nothing
/// is numbered on top of what was lost: an append of an earlier generation is refused.
final class Writer implements AutoCloseable {

  private static final Logger LOG = System.getLogger(Writer.class.getName());
  private static final long RETRY_MILLIS = 200;

  private final Database database;
  private final Tuning tuning;
  private final Fault fault;
  private final Waker waker;
  private final Unsealed unsealed;
  private final LogMetrics metrics;
  private final Checkpointer checkpointer;
  private final LinkedBlockingQueue<Work> queue = new LinkedBlockingQueue<>();
  private final ByteSink block = new ByteSink(1 << 16);
  private final Thread thread;
  private @Nullable BlockTable table;
  private long nextBlock;
  private long walBytes;
  private volatile long visible;
  private volatile boolean closed;
  private volatile boolean down;

  /// Something for the writer's thread to do.
  private sealed interface Work {
    record Append(Ticket ticket) implements Work {}

    record Erase(LiveContext context, Ticket done) implements Work {}

    record Stop() implements Work {}
  }

  /// What the writer works with.
  record Parts(
      Database database,
      Tuning tuning,
      Fault fault,
      Waker waker,
      Unsealed unsealed,
      LogMetrics metrics) {}

  Writer(Parts parts, BlockTable table, long nextBlock) {
    this.database = parts.database();
    this.tuning = parts.tuning();
    this.fault = parts.fault();
    this.waker = parts.waker();
    this.unsealed = parts.unsealed();
    this.metrics = parts.metrics();
    this.checkpointer = new Checkpointer(database);
    this.table = table;
    this.nextBlock = nextBlock;
    this.visible = nextBlock - 1;
    this.thread = Thread.ofPlatform().name("parley-log-writer").start(this::run);
  }

  /// Queues an append. The caller holds the context's lock, so that the queue keeps its order.
  void submit(Ticket ticket) {
    queue.add(new Work.Append(ticket));
  }

  /// Queues the removal of a context.
  void erase(LiveContext context, Ticket done) {
    queue.add(new Work.Erase(context, done));
  }

  /// True while the store cannot be written.
  boolean down() {
    return down;
  }

  /// The last block of which every entry can be read, and before it all others.
  long visible() {
    return visible;
  }

  @Override
  public void close() {
    queue.add(new Work.Stop());
    var interrupted = false;
    while (thread.isAlive()) {
      try {
        thread.join();
      } catch (InterruptedException later) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private void run() {
    while (!closed) {
      try {
        step();
      } catch (RuntimeException bug) { // The root of a thread: the log must go on or say so.
        LOG.log(Level.ERROR, "the log's writer stumbled", bug);
      } catch (InterruptedException nobodyInterruptsThis) {
        break;
      }
    }
    refuseAll();
    checkpointer.close();
    closeTable();
  }

  private void step() throws InterruptedException {
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
    if (!batch.isEmpty()) {
      write(batch);
    }
    switch (next) {
      case null -> {}
      case Work.Append _ -> {}
      case Work.Erase(var context, var done) -> erase(context, done, nextBlock++);
      case Work.Stop() -> closed = true;
    }
  }

  private void write(List<Ticket> arrived) throws InterruptedException {
    var batch = following(arrived);
    if (batch.isEmpty()) {
      return;
    }
    var id = nextBlock++;
    var sealing = unsealed.due();
    var begin = System.nanoTime();
    try {
      var open = table();
      fault.beforeCommit();
      insert(open, batch, id);
      for (var context : sealing) {
        open.seal(context);
      }
      open.deleteBlocks(unsealed.emptiedBy(sealing));
      open.commit();
      fault.afterCommit();
    } catch (SQLException inDoubt) {
      resolve(batch, sealing, id, inDoubt);
      return;
    }
    publish(batch, sealing, id);
    metrics.committed(batch, System.nanoTime() - begin);
    checkpointIfLarge();
  }

  /// The appends whose numbers still count; those built on what was lost since are refused.
  private static List<Ticket> following(List<Ticket> arrived) {
    var batch = new ArrayList<Ticket>(arrived.size());
    for (var ticket : arrived) {
      if (ticket.current()) {
        batch.add(ticket);
      } else {
        ticket.settle(
            ticket.context().deleted()
                ? new Rejection.Gone("the context was deleted: " + ticket.context().id)
                : unavailable("the store failed in an earlier write to this context"));
      }
    }
    return batch;
  }

  private void insert(BlockTable open, List<Ticket> batch, long id) throws SQLException {
    block.clear();
    for (var ticket : batch) {
      block.number(ticket.context().number);
      block.block(ticket.chunk());
      if (ticket.slots().getFirst().entry().event() instanceof ContextCreated created) {
        open.insertContext(ticket.context(), created.owner(), id);
      }
      if (ticket.key() != null) {
        open.insertKey(ticket.context(), ticket.key());
      }
    }
    open.insertBlock(id, block.toArray());
    walBytes += block.size() + 8_192L;
  }

  /// Makes a durable batch visible, then tells those who appended, then those who wait.
  private void publish(List<Ticket> batch, List<LiveContext> sealed, long id) {
    for (var context : sealed) {
      unsealed.sealed(context, context.window.head());
    }
    for (var ticket : batch) {
      var context = ticket.context();
      unsealed.add(id, block.size(), context, ticket.slots());
      context.window = context.window.plus(ticket.slots(), keep(context, ticket));
      settleKey(ticket);
    }
    visible = id;
    // Only now, so that those who append again at once do not come in the way of the rest.
    for (var ticket : batch) {
      ticket.settle(null);
      waker.wake(ticket.context());
    }
  }

  private static void settleKey(Ticket ticket) {
    var key = ticket.key();
    if (key != null) {
      var context = ticket.context();
      context.lock.lock();
      try {
        context.keysInDoubt.remove(new KeyName(key.once().principal(), key.once().key()));
      } finally {
        context.lock.unlock();
      }
    }
  }

  /// All that is unsealed stays in memory, and as much again of what was sealed last.
  private int keep(LiveContext context, Ticket ticket) {
    return context.unsealedCount - ticket.slots().size() + tuning.sealEvents();
  }

  private void resolve(List<Ticket> batch, List<LiveContext> sealing, long id, SQLException inDoubt)
      throws InterruptedException {
    LOG.log(Level.WARNING, "the log cannot be written: {0}", inDoubt.getMessage());
    down = true;
    closeTable();
    var told = false;
    while (true) {
      try {
        var durable = table().hasBlock(id);
        // First, so that nobody who is told of the failure is refused when they try again.
        down = false;
        if (durable) {
          publish(batch, sealing, id);
          if (told) {
            rollBack(batch);
          }
        } else {
          refuse(batch, "the store failed: " + inDoubt.getMessage());
        }
        break;
      } catch (SQLException still) {
        if (!told) {
          refuse(batch, "the store failed, and whether this was written is not yet known");
          told = true;
        }
        closeTable();
        refuseAll();
        if (closed) {
          return;
        }
        TimeUnit.MILLISECONDS.sleep(RETRY_MILLIS);
      }
    }
    LOG.log(Level.INFO, "the log can be written again");
  }

  private void rollBack(List<Ticket> batch) {
    var contexts = new LinkedHashSet<LiveContext>();
    batch.forEach(ticket -> contexts.add(ticket.context()));
    contexts.forEach(Writer::rollBack);
  }

  private static void rollBack(LiveContext context) {
    context.lock.lock();
    try {
      context.rollBack();
    } finally {
      context.lock.unlock();
    }
  }

  private void refuseAll() {
    var waiting = new ArrayList<Work>();
    queue.drainTo(waiting);
    for (var work : waiting) {
      switch (work) {
        case Work.Append(var ticket) -> refuse(List.of(ticket), "the store cannot be written");
        case Work.Erase(_, var done) -> done.settle(unavailable("the store cannot be written"));
        case Work.Stop() -> closed = true;
      }
    }
  }

  private static void refuse(List<Ticket> tickets, String why) {
    for (var ticket : tickets) {
      if (!ticket.settled()) {
        if (ticket.current()) {
          rollBack(ticket.context());
        }
        ticket.settle(unavailable(why));
      }
    }
  }

  private static Rejection unavailable(String why) {
    return new Rejection.Unavailable(why);
  }

  private void erase(LiveContext context, Ticket done, long mark) {
    try {
      table().erase(context, mark);
    } catch (SQLException failed) {
      LOG.log(Level.WARNING, "context {0} cannot be deleted: {1}", context.id, failed.getMessage());
      closeTable();
      if (!erasedAfterAll(context)) {
        done.settle(unavailable("the store failed: " + failed.getMessage()));
        return;
      }
    }
    unsealed.forget(context);
    context.lock.lock();
    try {
      context.erased(mark);
    } finally {
      context.lock.unlock();
    }
    visible = mark;
    done.settle(null);
    waker.wake(context);
  }

  private boolean erasedAfterAll(LiveContext context) {
    try {
      return table().isErased(context);
    } catch (SQLException stillFailing) {
      return false;
    }
  }

  /// Leaves the work to the checkpointer, and only starts the log anew when that has caught up.
  private void checkpointIfLarge() {
    var written = walBytes;
    if (written > tuning.walBytes()) {
      walBytes = 0;
      checkpointer.request();
    }
    if (checkpointer.takeDone()) {
      try {
        table().restartWal();
      } catch (SQLException busy) {
        LOG.log(Level.DEBUG, "checkpoint put off: {0}", busy.getMessage());
      }
    }
  }

  private BlockTable table() throws SQLException {
    var open = table;
    if (open == null) {
      open = new BlockTable(database.openWriter());
      table = open;
    }
    return open;
  }

  private void closeTable() {
    var open = table;
    table = null;
    if (open != null) {
      try {
        open.close();
      } catch (SQLException ignored) {
        LOG.log(Level.DEBUG, "closing the store: {0}", ignored.getMessage());
      }
    }
  }
}
