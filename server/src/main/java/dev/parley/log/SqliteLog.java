package dev.parley.log;

import dev.parley.log.LiveContext.Admitted;
import dev.parley.log.LiveContext.KeyName;
import dev.parley.log.LiveContext.Status;
import dev.parley.log.LiveContext.StoredKey;
import dev.parley.protocol.ContextEvent.ContextCreated;
import dev.parley.protocol.ContextEvent.ContextForked;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Entry;
import dev.parley.protocol.Position;
import dev.parley.protocol.Rejection;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/// The event log in one SQLite file.
///
/// An append assigns positions to its events under the context's lock, hands them to the only
/// [Writer] and waits. The writer commits all waiting appends as one block. Later commits rewrite
/// blocks, which contain entries of many contexts, as compressed segments of one context each. The
/// newest entries of a context are in memory (see [Window]); older ones are read from its segments.
public final class SqliteLog implements EventLog {

  private static final Logger LOG = System.getLogger(SqliteLog.class.getName());
  private static final Duration PATIENCE_MAX = Duration.ofDays(365);

  private final Parts parts;
  private final DataFolder folder;
  private final Readers readers;
  private final FatalHandler fatal;
  private final AtomicBoolean failed = new AtomicBoolean();
  private final Waker waker = new Waker(this::fail);
  private final Pulse pulse = new Pulse();
  private final Ticker ticker = new Ticker(this::fail);
  private final Unsealed unsealed;
  private final ContextMemory memory;
  private final LiveContexts contexts;
  private final SlotReader slots;
  private final Forks forks;
  private final Writer writer;
  private final LogMetrics metrics = new LogMetrics();
  private final AtomicLong nextNumber;
  private volatile boolean closed;

  /// The data folder, the clock, the source of secrets, and the limits of a log.
  public record Parts(Path folder, InstantSource clock, RandomGenerator random, Tuning tuning) {}

  private SqliteLog(Parts parts, DataFolder folder, Fault fault, FatalHandler fatal)
      throws SQLException {
    this.parts = parts;
    this.folder = folder;
    this.fatal = fatal;
    Connection connection = null;
    var opened = false;
    try {
      var tuning = parts.tuning();
      var database = new Database(parts.folder().resolve("log.db"));
      unsealed = new Unsealed(tuning);
      connection = database.openWriter();
      memory = ContextMemory.of(tuning);
      StoredContexts.loadUnsealed(connection, unsealed, memory);
      nextNumber =
          new AtomicLong(Database.number(connection, "SELECT max(number) FROM contexts") + 1);
      var nextBlock =
          1
              + Math.max(
                  Database.number(connection, "SELECT max(id) FROM blocks"),
                  Database.number(connection, "SELECT max(touched) FROM contexts"));
      readers = new Readers(database, fault);
      contexts = new LiveContexts(readers, unsealed, memory, tuning);
      slots = new SlotReader(readers, tuning.batchEvents());
      forks = new Forks(readers, slots);
      writer =
          new Writer(
              new Writer.Parts(
                  database,
                  tuning,
                  fault,
                  waker,
                  pulse,
                  unsealed,
                  memory.windows(),
                  readers.gate(),
                  metrics,
                  this::fail),
              new BlockTable(connection),
              nextBlock);
      opened = true;
    } finally {
      if (!opened) {
        waker.close();
        ticker.close();
        if (connection != null) {
          connection.close();
        }
      }
    }
  }

  /// Opens the log in `parts.folder()`, which is created if it is missing.
  ///
  /// @throws Rejection.Conflict if another process uses the folder
  /// @throws Rejection.Unavailable if the files cannot be opened
  public static SqliteLog open(Parts parts) {
    return open(parts, FatalHandler.NONE);
  }

  /// Does the same as [#open(Parts)]. Calls `fatal` if a thread of the log fails; the log then
  /// rejects all appends.
  public static SqliteLog open(Parts parts, FatalHandler fatal) {
    return open(parts, Fault.NONE, fatal);
  }

  static SqliteLog open(Parts parts, Fault fault) {
    return open(parts, fault, FatalHandler.NONE);
  }

  static SqliteLog open(Parts parts, Fault fault, FatalHandler fatal) {
    var folder = DataFolder.claim(parts.folder());
    var opened = false;
    try {
      var log = new SqliteLog(parts, folder, fault, fatal);
      opened = true;
      return log;
    } catch (SQLException failed) {
      throw new Rejection.Unavailable(
          "the log in " + parts.folder() + " cannot be opened: " + failed.getMessage());
    } finally {
      if (!opened) {
        folder.close();
      }
    }
  }

  @Override
  public boolean create(ContextId id, ContextCreated created) {
    try (var pin = contexts.pin(id)) {
      return begin(
          pin.context(),
          context -> enqueue(context, admitted(context, List.of(Draft.of(created))), null));
    }
  }

  @Override
  public boolean fork(ContextId id, ContextForked forked, List<Draft> more) {
    try (var sourcePin = contexts.pin(forked.sourceContextId());
        var pin = contexts.pin(id)) {
      var fork = forks.prepare(sourcePin.context(), forked.atSeq());
      var drafts = new ArrayList<>(List.of(Draft.of(forked)));
      drafts.addAll(ForkedEnds.of(fork.state()));
      drafts.addAll(more);
      return begin(
          pin.context(),
          context ->
              enqueue(context, context.admitFork(fork, drafts, parts.clock().millis()), fork));
    }
  }

  private boolean begin(LiveContext context, Function<LiveContext, Ticket> first) {
    Ticket ticket;
    var fresh = false;
    context.lock.lock();
    try {
      if (context.deleting || context.status == Status.DELETED) {
        context.check();
      }
      fresh = context.status == Status.ABSENT;
      if (fresh) {
        context.number = nextNumber.getAndIncrement();
        context.ids = Secrets.random(parts.random());
        ticket = first.apply(context);
        context.status = Status.PRESENT;
      } else {
        ticket = context.lastTicket;
      }
    } finally {
      context.lock.unlock();
    }
    if (ticket != null) {
      ticket.await();
    }
    return fresh;
  }

  @Override
  public Appended append(ContextId id, Guard guard, Decision decide) {
    if (!writable()) {
      throw new Rejection.Unavailable("the store cannot be written at the moment; try again");
    }
    try (var pin = contexts.pin(id)) {
      var context = pin.context();
      var attempt = attemptIfKeyKnown(context, guard, decide);
      if (attempt == null) {
        attempt = lookUpAndAttempt(context, (Guard.Once) guard, decide);
      }
      // The result may only be returned once the events that it is based on are durable.
      if (attempt.ticket() != null) {
        attempt.ticket().await();
      }
      return attempt.answer();
    }
  }

  /// The result of a decision, and the append that must be durable before the result is returned.
  private record Attempt(
      @Nullable Ticket ticket, @Nullable Appended appended, @Nullable Rejection rejection) {
    Appended answer() {
      if (appended == null) {
        throw rejection == null ? new IllegalStateException("no answer") : rejection;
      }
      return appended;
    }
  }

  /// Returns null if the key must be looked up in the store first; the key then stays in memory
  /// until the look-up ends.
  private @Nullable Attempt attemptIfKeyKnown(LiveContext context, Guard guard, Decision decide) {
    context.lock.lock();
    try {
      var asks = guard instanceof Guard.Once once && context.keys.beginLookup(KeyName.of(once));
      return asks ? null : attempt(context, guard, decide);
    } finally {
      context.lock.unlock();
    }
  }

  private Attempt lookUpAndAttempt(LiveContext context, Guard.Once once, Decision decide) {
    var name = KeyName.of(once);
    try {
      var stored = readers.lookUp(connection -> StoredContexts.findKey(connection, context, name));
      context.lock.lock();
      try {
        stored.ifPresent(key -> context.keys.remember(name, key));
        return attempt(context, once, decide);
      } finally {
        context.lock.unlock();
      }
    } finally {
      context.lock.lock();
      try {
        context.keys.endLookup(name);
      } finally {
        context.lock.unlock();
      }
    }
  }

  private Attempt attempt(LiveContext context, Guard guard, Decision decide) {
    try {
      context.check();
      var earlier = check(context, guard);
      if (earlier != null) {
        return new Attempt(context.lastTicket, earlier, null);
      }
      var drafts = decide.decide(context.state);
      if (drafts.isEmpty()) {
        var head = context.state.head();
        return new Attempt(context.lastTicket, new Appended(head, head, false), null);
      }
      var admitted = admitted(context, drafts);
      var ticket = enqueueGuarded(context, admitted, guard);
      return new Attempt(ticket, appended(admitted.slots(), false), null);
    } catch (Rejection rejection) {
      return new Attempt(context.lastTicket, null, rejection);
    }
  }

  private static @Nullable Appended check(LiveContext context, Guard guard) {
    switch (guard) {
      case Guard.None() -> {}
      case Guard.At(var head) -> {
        if (!context.state.head().equals(head)) {
          throw new Rejection.Stale("the context has events after " + head);
        }
      }
      case Guard.Once(var principal, var key, var hash) -> {
        var used = context.keys.find(new KeyName(principal, key));
        if (used != null && !used.bodyHash().equals(hash)) {
          throw new Rejection.Conflict(
              "idempotency-key-reused", "this Idempotency-Key was already used with another body");
        }
        return used == null ? null : used.appended();
      }
    }
    return null;
  }

  private Ticket enqueueGuarded(LiveContext context, Admitted admitted, Guard guard) {
    if (!(guard instanceof Guard.Once once)) {
      return enqueue(context, admitted, null);
    }
    var key = new Ticket.NewKey(once, appended(admitted.slots(), true));
    var ticket = enqueue(context, admitted, key);
    context.keys.write(KeyName.of(once), new StoredKey(once.bodyHash(), key.appended()));
    return ticket;
  }

  private Admitted admitted(LiveContext context, List<Draft> drafts) {
    return context.admit(drafts, parts.clock().millis());
  }

  private Ticket enqueue(LiveContext context, Admitted admitted, Ticket.@Nullable Along along) {
    // This is the last step that can fail.
    var ticket = new Ticket(context, admitted.before(), admitted.slots(), along);
    context.state = admitted.state();
    context.lastMillis = admitted.millis();
    context.lastTicket = ticket;
    writer.submit(ticket);
    return ticket;
  }

  private static Appended appended(List<Slot> slots, boolean replayed) {
    return new Appended(
        slots.getFirst().entry().position(), slots.getLast().entry().position(), replayed);
  }

  @Override
  public List<Entry> read(ContextId id, Position after, int limit) {
    try (var pin = contexts.pin(id)) {
      pin.context().checkDurable();
      return Damage.told(id, () -> slots.entriesAfter(pin.context(), after, limit));
    }
  }

  @Override
  public Position head(ContextId id) {
    try (var pin = contexts.pin(id)) {
      pin.context().checkDurable();
      return pin.context().window.head();
    }
  }

  @Override
  public boolean await(ContextId id, Position after, Duration patience)
      throws InterruptedException {
    try (var pin = contexts.pin(id)) {
      var context = pin.context();
      var deadline = System.nanoTime() + nanos(patience);
      var me = Thread.currentThread();
      var found = false;
      context.waiters.add(me);
      try {
        while (true) {
          context.checkDurable();
          if (context.window.head().after(after)) {
            found = true;
            return true;
          }
          if (closed) {
            throw new Rejection.Unavailable("the log is closed");
          }
          var left = deadline - System.nanoTime();
          if (left <= 0) {
            return false;
          }
          ticker.park(context, deadline);
          if (Thread.interrupted()) {
            throw new InterruptedException();
          }
        }
      } finally {
        context.waiters.remove(me);
        // A reader that found an entry usually waits again; otherwise the next commit trims the
        // window.
        if (!found && context.waiters.isEmpty()) {
          WindowMemory.cut(context);
        }
      }
    }
  }

  private static long nanos(Duration patience) {
    return patience.compareTo(PATIENCE_MAX) > 0 ? PATIENCE_MAX.toNanos() : patience.toNanos();
  }

  @Override
  public <T> T inspect(ContextId id, Function<ContextState, T> look) {
    try (var pin = contexts.pin(id)) {
      var context = pin.context();
      context.lock.lock();
      try {
        context.checkDurable();
        return look.apply(context.durable());
      } finally {
        context.lock.unlock();
      }
    }
  }

  @Override
  public String owner(ContextId id) {
    try {
      return inspect(id, ContextState::owner);
    } catch (Rejection.Damaged unreadable) {
      // The owner learns that the context is damaged and may delete it; other callers learn
      // nothing.
      return readers
          .lookUp(connection -> StoredContexts.owner(connection, id))
          .orElseThrow(() -> unreadable);
    }
  }

  @Override
  public void delete(ContextId id) {
    delete(id, null, _ -> {});
  }

  @Override
  public void delete(ContextId id, @Nullable String principal, Consumer<ContextState> allowed) {
    try (var pin = contexts.pinToDelete(id)) {
      var context = pin.context();
      Ticket done;
      context.lock.lock();
      try {
        var under = context.deleted() ? writer.erasing(context.number) : context.deleting;
        if (!under) {
          if (context.status != Status.DAMAGED) {
            context.check();
          }
          allowed.accept(context.state);
          context.deleting = true;
          context.deletion = new LiveContext.Deletion(principal, parts.clock().millis());
        }
        done = new Ticket(context, context.state.head(), List.of(), null);
        writer.erase(context, done);
      } finally {
        context.lock.unlock();
      }
      done.await();
    }
  }

  @Override
  public List<ContextId> withOpenTasks() {
    var found = new LinkedHashSet<>(readers.lookUp(StoredChanges::withOpenTasks));
    unsealed.contexts().forEach(context -> found.add(context.id));
    return found.stream().filter(this::hasOpenTasks).toList();
  }

  private boolean hasOpenTasks(ContextId id) {
    try {
      return inspect(id, state -> !state.openTasks().isEmpty());
    } catch (Rejection.Gone | Rejection.NotFound deletedMeanwhile) {
      return false;
    } catch (Rejection.Damaged unreadable) {
      // Unknown: recovery will try to read the tasks and report the damage.
      return true;
    }
  }

  @Override
  public Changes changes(long mark, int limit) {
    // This comes first, so that the following reads include all of it.
    var visible = writer.visible();
    var inMemory = List.copyOf(unsealed.contexts());
    return readers.lookUp(
        connection ->
            new StoredChanges(connection, inMemory).between(mark, Math.max(mark, visible), limit));
  }

  @Override
  public boolean awaitChange(long mark, Duration patience) throws InterruptedException {
    return pulse.await(() -> writer.visible() > mark, nanos(patience));
  }

  /// Counters of the log since it was opened.
  public LogMetrics metrics() {
    return metrics;
  }

  @Override
  public Optional<String> outage() {
    return writer.failure();
  }

  /// Rejects all further appends, and reports the failure to the [FatalHandler]. Called when a
  /// thread fails that the server cannot run without, of the log or of another part.
  public void fail(String thread, Throwable cause) {
    if (failed.getAndSet(true)) {
      return;
    }
    try {
      writer.stop();
      LOG.log(Level.ERROR, "the thread " + thread + " failed; restart the server", cause);
    } catch (Throwable further) { // At the root of a thread; `cause` matters more.
      cause.addSuppressed(further);
    } finally {
      passOn(thread, cause);
    }
  }

  /// Runs the handler on its own thread, so that it can close the log, which waits for the log's
  /// threads.
  private void passOn(String thread, Throwable cause) {
    try {
      Thread.ofPlatform().name("parley-fatal").start(() -> fatal.failed(thread, cause));
    } catch (OutOfMemoryError noThread) {
      fatal.failed(thread, cause);
    }
  }

  /// The number of contexts in memory.
  int contextsInMemory() {
    return contexts.size();
  }

  /// The number of contexts with entries that are not in segments yet.
  int unsealedContexts() {
    return unsealed.contexts().size();
  }

  /// The approximate memory of the newest entries of all contexts, in bytes.
  public long windowBytes() {
    return memory.windows().bytes();
  }

  /// The number of idempotency keys that are both in memory and in the store.
  int keysInMemory() {
    return memory.keys().kept();
  }

  /// The size of the blocks that are not in segments yet, in bytes.
  public long unsealedBytes() {
    return unsealed.bytes();
  }

  @Override
  public void close() {
    writer.close();
    // Waiting threads read this before they park, and are unparked after it is set.
    closed = true;
    contexts.close();
    pulse.close();
    readers.close();
    waker.close();
    ticker.close();
    folder.close();
  }
}
