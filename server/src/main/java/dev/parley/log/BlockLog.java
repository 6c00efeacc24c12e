package dev.parley.log;

import dev.parley.log.CachedContext.ContextStatus;
import dev.parley.log.CachedContext.PreparedAppend;
import dev.parley.log.IdempotencyKeyCache.KeyName;
import dev.parley.log.IdempotencyKeyCache.StoredKey;
import dev.parley.protocol.ContextEvent.ContextCreated;
import dev.parley.protocol.ContextEvent.ContextForked;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.EncryptionView;
import dev.parley.protocol.Entry;
import dev.parley.protocol.Position;
import dev.parley.protocol.Rejection;
import dev.parley.runtime.Threads;
import dev.parley.runtime.Time;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/// The event log in a [BlockStore], which is a database.
///
/// An append assigns positions to its events under the context's lock, hands them to the only
/// [LogWriter] and waits. The writer commits all waiting appends as one block. Later commits rewrite
/// blocks, which contain entries of many contexts, as compressed segments of one context each. The
/// newest entries of a context are in memory (see [EntryWindow]); older ones are read from its segments.
public final class BlockLog implements EventLog {

  private static final Logger LOG = System.getLogger(BlockLog.class.getName());

  private final BlockLogDependencies dependencies;
  private final Runnable closeStore;
  private final ReaderThreads readerThreads;
  private final FatalHandler fatal;
  private final AtomicBoolean failed = new AtomicBoolean();
  private final Time time;
  private final Waker waker;
  private final CommitSignal commitSignal;
  private final UnsealedBlocks unsealedBlocks;
  private final MemoryLimiters memory;
  private final ContextCache contexts;
  private final EntryReader entryReader;
  private final ForkPreparer forkPreparer;
  private final LogWriter logWriter;
  private final LogMetrics metrics = new LogMetrics();
  private final AtomicLong nextNumber;
  private volatile boolean closed;

  /// The store, time and threads, the source of secrets, and the limits of a log.
  record BlockLogDependencies(
      BlockStore store, Time time, Threads threads, RandomGenerator random, LogTuning tuning) {}

  /// Opens the log. Calls `closeStore` after the log is closed, and `fatal` if a thread of the log
  /// fails; the log then rejects all appends.
  BlockLog(BlockLogDependencies dependencies, Runnable closeStore, FatalHandler fatal)
      throws SQLException {
    this.dependencies = dependencies;
    this.closeStore = closeStore;
    this.fatal = fatal;
    var store = dependencies.store();
    this.time = dependencies.time();
    this.commitSignal = new CommitSignal(time);
    this.waker = new Waker(dependencies.threads(), this::fail);
    BlockStore.StoreWriter writer = null;
    var opened = false;
    try {
      var logTuning = dependencies.tuning();
      unsealedBlocks = new UnsealedBlocks(logTuning);
      writer = store.openWriter();
      memory = MemoryLimiters.of(logTuning);
      writer.loadUnsealed(unsealedBlocks, memory);
      nextNumber = new AtomicLong(writer.lastNumber() + 1);
      readerThreads = new ReaderThreads(store::openReader, dependencies.threads());
      contexts = new ContextCache(readerThreads, unsealedBlocks, memory, logTuning, time);
      entryReader = new EntryReader(readerThreads, logTuning.batchEvents());
      forkPreparer = new ForkPreparer(readerThreads, entryReader);
      logWriter =
          new LogWriter(
              new LogWriterDependencies(
                  store,
                  logTuning,
                  waker,
                  commitSignal,
                  unsealedBlocks,
                  memory.windows(),
                  readerThreads.gate(),
                  metrics,
                  time,
                  dependencies.threads(),
                  this::fail),
              writer,
              writer.lastBlock() + 1);
      opened = true;
    } finally {
      if (!opened) {
        waker.close();
        if (writer != null) {
          writer.close();
        }
      }
    }
  }

  @Override
  public boolean create(ContextId id, ContextCreated created) {
    try (var pin = contexts.pin(id)) {
      return begin(
          pin.context(),
          context -> enqueue(context, prepare(context, List.of(EventDraft.of(created))), null));
    }
  }

  @Override
  public boolean fork(ContextId id, ContextForked forked, List<EventDraft> more) {
    try (var sourcePin = contexts.pin(forked.sourceContextId());
        var pin = contexts.pin(id)) {
      var preparedFork = forkPreparer.prepare(sourcePin.context(), forked.atSeq());
      var drafts = new ArrayList<>(List.of(EventDraft.of(forked)));
      drafts.addAll(ForkedTaskEnds.of(preparedFork.state()));
      drafts.addAll(more);
      return begin(
          pin.context(),
          context ->
              enqueue(
                  context, context.prepareFork(preparedFork, drafts, time.millis()), preparedFork));
    }
  }

  private boolean begin(CachedContext context, Function<CachedContext, PendingAppend> first) {
    PendingAppend pendingAppend;
    var fresh = false;
    context.lock.lock();
    try {
      if (context.deleting || context.status == ContextStatus.DELETED) {
        context.checkExists();
      }
      fresh = context.status == ContextStatus.ABSENT;
      if (fresh) {
        context.number = nextNumber.getAndIncrement();
        context.ids = EventIdGenerator.random(dependencies.random());
        context.cipher = dependencies.store().encryption().newCipher();
        pendingAppend = first.apply(context);
        context.status = ContextStatus.PRESENT;
      } else {
        pendingAppend = context.lastAppend;
      }
    } finally {
      context.lock.unlock();
    }
    if (pendingAppend != null) {
      pendingAppend.await();
    }
    return fresh;
  }

  @Override
  public AppendResult append(ContextId id, AppendGuard appendGuard, Decision decide) {
    if (!writable()) {
      throw new Rejection.Unavailable("the store cannot be written at the moment; try again");
    }
    try (var pin = contexts.pin(id)) {
      var context = pin.context();
      var attempt = attemptIfKeyKnown(context, appendGuard, decide);
      if (attempt == null) {
        attempt = lookUpAndAttempt(context, (AppendGuard.IdempotencyKey) appendGuard, decide);
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
      @Nullable PendingAppend ticket,
      @Nullable AppendResult appended,
      @Nullable Rejection rejection) {
    AppendResult answer() {
      if (appended == null) {
        throw rejection == null ? new IllegalStateException("no answer") : rejection;
      }
      return appended;
    }
  }

  /// Returns null if the key must be looked up in the store first; the key then stays in memory
  /// until the look-up ends.
  private @Nullable Attempt attemptIfKeyKnown(
      CachedContext context, AppendGuard appendGuard, Decision decide) {
    context.lock.lock();
    try {
      var asks =
          appendGuard instanceof AppendGuard.IdempotencyKey idempotencyKey
              && context.keys.beginLookup(KeyName.of(context.stored(idempotencyKey)));
      return asks ? null : attempt(context, appendGuard, decide);
    } finally {
      context.lock.unlock();
    }
  }

  private Attempt lookUpAndAttempt(
      CachedContext context, AppendGuard.IdempotencyKey idempotencyKey, Decision decide) {
    var name = KeyName.of(context.stored(idempotencyKey));
    try {
      var stored = readerThreads.lookUp(reader -> reader.findKey(context, name));
      context.lock.lock();
      try {
        stored.ifPresent(key -> context.keys.cache(name, key));
        return attempt(context, idempotencyKey, decide);
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

  private Attempt attempt(CachedContext context, AppendGuard requested, Decision decide) {
    try {
      context.checkExists();
      var appendGuard =
          requested instanceof AppendGuard.IdempotencyKey key ? context.stored(key) : requested;
      var earlier = check(context, appendGuard);
      if (earlier != null) {
        return new Attempt(context.lastAppend, earlier, null);
      }
      var drafts = decide.decide(context.state);
      if (drafts.isEmpty()) {
        var head = context.state.head();
        return new Attempt(context.lastAppend, new AppendResult(head, head, false), null);
      }
      var preparedAppend = prepare(context, drafts);
      var pendingAppend = enqueueGuarded(context, preparedAppend, appendGuard);
      return new Attempt(pendingAppend, preparedAppend.result(false), null);
    } catch (Rejection rejection) {
      return new Attempt(context.lastAppend, null, rejection);
    }
  }

  private static @Nullable AppendResult check(CachedContext context, AppendGuard appendGuard) {
    switch (appendGuard) {
      case AppendGuard.NoGuard() -> {}
      case AppendGuard.ExpectedHead(var head) -> {
        if (!context.state.head().equals(head)) {
          throw new Rejection.Stale("the context has events after " + head);
        }
      }
      case AppendGuard.IdempotencyKey(var principal, var key, var hash) -> {
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

  private PendingAppend enqueueGuarded(
      CachedContext context, PreparedAppend preparedAppend, AppendGuard appendGuard) {
    if (!(appendGuard instanceof AppendGuard.IdempotencyKey idempotencyKey)) {
      return enqueue(context, preparedAppend, null);
    }
    var key = new PendingAppend.NewKey(idempotencyKey, preparedAppend.result(true));
    var pendingAppend = enqueue(context, preparedAppend, key);
    context.keys.addPending(
        KeyName.of(idempotencyKey), new StoredKey(idempotencyKey.bodyHash(), key.appended()));
    return pendingAppend;
  }

  private PreparedAppend prepare(CachedContext context, List<EventDraft> drafts) {
    return context.prepare(drafts, time.millis());
  }

  private PendingAppend enqueue(
      CachedContext context,
      PreparedAppend preparedAppend,
      PendingAppend.@Nullable AppendExtra appendExtra) {
    // This is the last step that can fail.
    var pendingAppend =
        new PendingAppend(context, preparedAppend.before(), preparedAppend.runs(), appendExtra);
    context.state = preparedAppend.state();
    context.lastMillis = preparedAppend.millis();
    context.lastAppend = pendingAppend;
    logWriter.submit(pendingAppend);
    return pendingAppend;
  }

  @Override
  public List<Entry> read(ContextId id, Position after, int limit) {
    try (var pin = contexts.pin(id)) {
      pin.context().checkDurable();
      return ContextDamage.reportErrors(
          id, () -> entryReader.entriesAfter(pin.context(), after, limit));
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
      var deadline = time.deadline(patience);
      var me = Waiter.of(Thread.currentThread());
      var found = false;
      if (patience.isPositive()) {
        context.waiters.add(me);
      }
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
          if (time.remaining(deadline) <= 0) {
            return false;
          }
          time.parkUntil(context, deadline);
          if (Thread.interrupted()) {
            throw new InterruptedException();
          }
        }
      } finally {
        context.waiters.remove(me);
        // A reader that found an entry usually waits again; otherwise the next commit trims the
        // window.
        if (!found && context.waiters.isEmpty()) {
          WindowMemoryLimiter.trimToUnsealed(context);
        }
      }
    }
  }

  @Override
  public ChangeRegistration listen(ContextId id, Runnable listener) {
    return contexts.listen(id, listener);
  }

  @Override
  public boolean inMemory(ContextId id, Position after) {
    try (var pin = contexts.pin(id)) {
      pin.context().checkDurable();
      return !pin.context().window.base().after(after);
    }
  }

  @Override
  public <T> T inspect(ContextId id, Function<ContextState, T> look) {
    try (var pin = contexts.pin(id)) {
      var context = pin.context();
      context.lock.lock();
      try {
        context.checkDurable();
        return look.apply(context.durableState());
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
      return readerThreads.lookUp(reader -> reader.owner(id)).orElseThrow(() -> unreadable);
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
      PendingAppend done;
      context.lock.lock();
      try {
        var under = context.deleted() ? logWriter.erasing(context.number) : context.deleting;
        if (!under) {
          if (context.status != ContextStatus.DAMAGED) {
            context.checkExists();
          }
          allowed.accept(context.state);
          context.deleting = true;
          context.deletion = new CachedContext.Deletion(principal, time.millis());
        }
        done = new PendingAppend(context, context.state.head(), List.of(), null);
        logWriter.erase(context, done);
      } finally {
        context.lock.unlock();
      }
      done.await();
    }
  }

  @Override
  public List<ContextId> withOpenTasks() {
    // In this order: a context that is sealed meanwhile is found at least once.
    var unsealed = unsealedBlocks.contexts().stream().map(context -> context.id).toList();
    var found = new LinkedHashSet<>(readerThreads.lookUp(BlockStore.StoreReader::withOpenTasks));
    // The stored number of open tasks of these is outdated. The others need not be loaded.
    unsealed.forEach(found::remove);
    unsealed.stream().filter(this::hasOpenTasks).forEach(found::add);
    return List.copyOf(found);
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
  public ChangedContexts changes(long mark, int limit) {
    // This comes first, so that the following reads include all of it.
    var visible = logWriter.visible();
    var inMemory = List.copyOf(unsealedBlocks.contexts());
    var last = Math.max(mark, visible);
    var sealed = readerThreads.lookUp(reader -> reader.changes(mark, last, limit));
    var touched = new HashMap<>(sealed.blocks());
    for (var context : inMemory) {
      if (context.lastBlock > mark) {
        // A context that changes all the time has changed up to `last`, too.
        touched.merge(context.id, Math.min(context.lastBlock, last), Math::max);
      }
    }
    // Contexts that a later block has changed since are left to the next call.
    touched.values().removeIf(block -> block > sealed.last());
    return ChangedContexts.of(touched, limit, sealed.last(), last);
  }

  @Override
  public long countChanges(long mark) {
    var unsealed = unsealedBlocks.contexts().stream().filter(c -> c.lastBlock > mark).count();
    // An unsealed context may have a sealed change, too, and is then counted only once.
    return Math.max(unsealed, readerThreads.lookUp(reader -> reader.countChanges(mark)));
  }

  @Override
  public boolean awaitChange(long mark, Duration patience) throws InterruptedException {
    return commitSignal.await(() -> logWriter.visible() > mark, patience);
  }

  /// Counters of the log since it was opened.
  public LogMetrics metrics() {
    return metrics;
  }

  @Override
  public Optional<String> outage() {
    return logWriter.failure();
  }

  @Override
  public Optional<EncryptionView> encryption() {
    var keys = readerThreads.lookUp(BlockStore.StoreReader::countKeys);
    return Optional.of(
        new EncryptionView(
            dependencies.store().encryption().isOn(),
            keys.encrypted(),
            keys.plain(),
            logWriter.keyRotation().running(),
            logWriter.keyRotation().failed()));
  }

  @Override
  public void rotateKeys() {
    logWriter.keyRotation().request(dependencies.store().encryption().newWrappingKey());
  }

  /// Rejects all further appends, and reports the failure to the [FatalHandler]. Called when a
  /// thread fails that the server cannot run without, of the log or of another part.
  public void fail(String thread, Throwable cause) {
    if (failed.getAndSet(true)) {
      return;
    }
    try {
      logWriter.stop();
      if (!(cause.getCause() instanceof FencedException)) {
        LOG.log(Level.ERROR, "the thread " + thread + " failed; restart the server", cause);
      }
    } catch (Throwable further) { // At the root of a thread; `cause` matters more.
      cause.addSuppressed(further);
    } finally {
      reportFatal(thread, cause);
    }
  }

  /// Runs the handler on its own thread, so that it can close the log, which waits for the log's
  /// threads.
  private void reportFatal(String thread, Throwable cause) {
    try {
      dependencies
          .threads()
          .unstartedEssential("parley-fatal", () -> fatal.failed(thread, cause))
          .start();
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
    return unsealedBlocks.contexts().size();
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
    return unsealedBlocks.bytes();
  }

  @Override
  public void close() {
    logWriter.close();
    // Waiting threads read this before they park, and are unparked after it is set.
    closed = true;
    contexts.close();
    commitSignal.close();
    readerThreads.close();
    waker.close();
    closeStore.run();
  }
}
