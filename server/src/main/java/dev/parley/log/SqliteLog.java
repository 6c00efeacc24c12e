package dev.parley.log;

import dev.parley.log.LiveContext.KeyName;
import dev.parley.log.LiveContext.Status;
import dev.parley.log.LiveContext.StoredKey;
import dev.parley.protocol.ContextEvent.ContextCreated;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Entry;
import dev.parley.protocol.Position;
import dev.parley.protocol.Rejection;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/// The log in one SQLite file.
///
/// An append numbers its events under the context's lock, hands them to the one [Writer] and waits.
/// The writer commits all that waits as one block. Blocks of many contexts are rewritten, inside later
/// commits, as compressed segments of one context each. The newest entries of a context are in
/// memory (see [Window]); everything older is read from its segments.
public final class SqliteLog implements EventLog {

  private static final Duration PATIENCE_MAX = Duration.ofDays(365);

  private final Parts parts;
  private final DataFolder folder;
  private final Readers readers;
  private final Waker waker = new Waker();
  private final Unsealed unsealed;
  private final LiveContexts contexts;
  private final Writer writer;
  private final LogMetrics metrics = new LogMetrics();
  private final AtomicLong nextNumber;

  /// What a log is made of: where it lives, what time it is, where secrets come from.
  public record Parts(Path folder, InstantSource clock, RandomGenerator random, Tuning tuning) {}

  private SqliteLog(Parts parts, Fault fault) throws SQLException {
    this.parts = parts;
    this.folder = DataFolder.claim(parts.folder());
    try {
      var tuning = parts.tuning();
      var database = new Database(parts.folder().resolve("log.db"));
      unsealed = new Unsealed(tuning);
      var connection = database.openWriter();
      StoredContexts.loadUnsealed(connection, unsealed, tuning.sealEvents());
      nextNumber =
          new AtomicLong(Database.number(connection, "SELECT max(number) FROM contexts") + 1);
      var nextBlock =
          1
              + Math.max(
                  Database.number(connection, "SELECT max(id) FROM blocks"),
                  Database.number(connection, "SELECT max(touched) FROM contexts"));
      readers = new Readers(database);
      contexts = new LiveContexts(readers, unsealed, tuning.liveContexts());
      writer =
          new Writer(
              new Writer.Parts(database, tuning, fault, waker, unsealed, metrics),
              new BlockTable(connection),
              nextBlock);
    } catch (SQLException | RuntimeException failed) {
      waker.close();
      folder.close();
      throw failed;
    }
  }

  /// Opens the log in `parts.folder()`, which is made if it is missing.
  ///
  /// @throws Rejection.Conflict if another process uses the folder
  /// @throws Rejection.Unavailable if the files cannot be opened
  public static SqliteLog open(Parts parts) {
    return open(parts, Fault.NONE);
  }

  static SqliteLog open(Parts parts, Fault fault) {
    try {
      return new SqliteLog(parts, fault);
    } catch (SQLException failed) {
      throw new Rejection.Unavailable(
          "the log in " + parts.folder() + " cannot be opened: " + failed.getMessage());
    }
  }

  @Override
  public boolean create(ContextId id, ContextCreated created) {
    try (var pin = contexts.pin(id)) {
      var context = pin.context();
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
          ticket = enqueue(context, List.of(Draft.of(created)), null);
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
  }

  @Override
  public Appended append(ContextId id, Guard guard, Decision decide) {
    if (writer.down()) {
      throw new Rejection.Unavailable("the store cannot be written just now; try again");
    }
    try (var pin = contexts.pin(id)) {
      var context = pin.context();
      Attempt attempt;
      context.lock.lock();
      try {
        attempt = attempt(context, guard, decide);
      } finally {
        context.lock.unlock();
      }
      // Whatever the answer is, it may only be given once what it was based on is durable.
      if (attempt.ticket() != null) {
        attempt.ticket().await();
      }
      return attempt.answer();
    }
  }

  /// What became of a decision, and the append that must be durable before that may be told.
  private record Attempt(
      @Nullable Ticket ticket, @Nullable Appended appended, @Nullable Rejection rejection) {
    Appended answer() {
      if (appended == null) {
        throw rejection == null ? new IllegalStateException("no answer") : rejection;
      }
      return appended;
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
      var ticket = enqueue(context, drafts, guard instanceof Guard.Once once ? once : null);
      return new Attempt(ticket, appended(ticket.slots(), false), null);
    } catch (Rejection rejection) {
      return new Attempt(context.lastTicket, null, rejection);
    }
  }

  private static @Nullable Appended check(LiveContext context, Guard guard) {
    switch (guard) {
      case Guard.None() -> {}
      case Guard.At(var head) -> {
        if (!context.state.head().equals(head)) {
          throw new Rejection.Stale("the context has moved on from " + head);
        }
      }
      case Guard.Once(var principal, var key, var hash) -> {
        var used = context.keys.get(new KeyName(principal, key));
        if (used != null && !used.bodyHash().equals(hash)) {
          throw new Rejection.Conflict(
              "idempotency-key-reused", "this Idempotency-Key was used with another body");
        }
        return used == null ? null : used.appended();
      }
    }
    return null;
  }

  private Ticket enqueue(LiveContext context, List<Draft> drafts, Guard.@Nullable Once once) {
    var before = context.state.head();
    var admitted = context.admit(drafts, parts.clock().millis());
    var key = once == null ? null : new Ticket.NewKey(once, appended(admitted.slots(), true));
    // The last step that can fail: from here on all of it happens.
    var ticket = new Ticket(context, before, admitted.slots(), key);
    context.state = admitted.state();
    context.lastMillis = admitted.millis();
    context.lastTicket = ticket;
    if (key != null) {
      var name = new KeyName(key.once().principal(), key.once().key());
      context.keys.put(name, new StoredKey(key.once().bodyHash(), key.appended()));
      context.keysInDoubt.add(name);
    }
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
      var context = pin.context();
      context.check();
      var entries = new ArrayList<Entry>();
      for (var slot : readSlots(context, after, limit)) {
        entries.add(slot.missing() ? restored(context, slot) : slot.entry());
      }
      return entries;
    }
  }

  private List<Slot> readSlots(LiveContext context, Position after, int limit) {
    if (limit <= 0) {
      return List.of();
    }
    var window = context.window;
    if (!window.base().after(after)) {
      return window.after(after, limit);
    }
    var slots =
        readers.ask(connection -> StoredContexts.readSegments(connection, context, after, limit));
    if (slots.isEmpty()) {
      // Either the context was just deleted, or the store has lost what it promised to keep.
      context.check();
      throw new IllegalStateException("segments are missing after " + after + " in " + context.id);
    }
    if (slots.size() >= limit) {
      return slots.subList(0, limit);
    }
    var rest = readSlots(context, slots.getLast().entry().position(), limit - slots.size());
    slots.addAll(rest);
    return slots;
  }

  /// The end of a block, with its text put together again from the block's deltas.
  private Entry restored(LiveContext context, Slot end) {
    var text = new BlockText(end);
    var at = Position.of(end.textFrom() - 1);
    while (at.compareTo(end.entry().position()) < 0) {
      var slots = readSlots(context, at, parts.tuning().batchEvents());
      slots.forEach(text::add);
      at = slots.getLast().entry().position();
    }
    return end.withText(text.toString()).entry();
  }

  @Override
  public Position head(ContextId id) {
    try (var pin = contexts.pin(id)) {
      pin.context().check();
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
      context.waiters.add(me);
      try {
        while (true) {
          context.check();
          if (context.window.head().after(after)) {
            return true;
          }
          var left = deadline - System.nanoTime();
          if (left <= 0) {
            return false;
          }
          LockSupport.parkNanos(context, left);
          if (Thread.interrupted()) {
            throw new InterruptedException();
          }
        }
      } finally {
        context.waiters.remove(me);
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
        context.check();
        return look.apply(context.durable());
      } finally {
        context.lock.unlock();
      }
    }
  }

  @Override
  public String owner(ContextId id) {
    return inspect(id, ContextState::owner);
  }

  @Override
  public void delete(ContextId id) {
    try (var pin = contexts.pin(id)) {
      var context = pin.context();
      Ticket done;
      context.lock.lock();
      try {
        context.check();
        context.deleting = true;
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
    var found = new LinkedHashSet<>(readers.ask(StoredChanges::withOpenTasks));
    unsealed.contexts().forEach(context -> found.add(context.id));
    return found.stream().filter(this::hasOpenTasks).toList();
  }

  private boolean hasOpenTasks(ContextId id) {
    try {
      return inspect(id, state -> !state.openTasks().isEmpty());
    } catch (Rejection.Gone | Rejection.NotFound deletedMeanwhile) {
      return false;
    }
  }

  @Override
  public Changes changes(long mark, int limit) {
    // First, so that what follows knows all of it.
    var visible = writer.visible();
    var inMemory = List.copyOf(unsealed.contexts());
    return readers.ask(
        connection ->
            new StoredChanges(connection, inMemory).between(mark, Math.max(mark, visible), limit));
  }

  /// What the log has done since it was opened.
  public LogMetrics metrics() {
    return metrics;
  }

  @Override
  public boolean writable() {
    return !writer.down();
  }

  /// How many contexts are in memory.
  int contextsInMemory() {
    return contexts.size();
  }

  /// Bytes in blocks that are not in segments yet.
  public long unsealedBytes() {
    return unsealed.bytes();
  }

  @Override
  public void close() {
    writer.close();
    readers.close();
    waker.close();
    folder.close();
  }
}
