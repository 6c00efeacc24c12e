package dev.parley.log;

import dev.parley.log.PostgresLog.PostgresReaderDependencies;
import dev.parley.protocol.ContextEvent.ContextCreated;
import dev.parley.protocol.ContextEvent.ContextForked;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Entry;
import dev.parley.protocol.Position;
import dev.parley.protocol.Rejection;
import dev.parley.runtime.Time;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;

/// The sealed part of a log that another server writes, for reading only.
///
/// It has all entries up to some block: those in segments. Contexts are sealed when they have not
/// changed for a while, so it is only a little behind. Its marks are those of the log itself, so
/// that views that were folded from it can be updated from the log later.
final class SealedEventLog implements EventLog {

  private final Time time;
  private final ReaderThreads readerThreads;
  private final EntryReader entryReader;
  private final MemoryLimiters memory;

  /// The contexts that were used since the last call of [#changes].
  private final Map<ContextId, CachedContext> contexts = new ConcurrentHashMap<>();

  private volatile boolean closed;

  SealedEventLog(PostgresReaderDependencies dependencies) {
    this.time = dependencies.time();
    this.readerThreads =
        new ReaderThreads(
            () ->
                new TableReader(dependencies.database().connectToRead(), dependencies.encryption()),
            dependencies.threads());
    this.entryReader = new EntryReader(readerThreads, dependencies.tuning().batchEvents());
    this.memory = MemoryLimiters.of(dependencies.tuning());
  }

  @Override
  public ChangedContexts changes(long mark, int limit) {
    contexts.clear();
    var last = Math.max(mark, lastSealedBlock());
    var sealed = readerThreads.lookUp(reader -> reader.changes(mark, last, limit));
    return ChangedContexts.of(sealed.blocks(), limit, sealed.last(), last);
  }

  private long lastSealedBlock() {
    return readerThreads.lookUp(BlockStore.StoreReader::lastSealedBlock);
  }

  @Override
  public long countChanges(long mark) {
    return readerThreads.lookUp(reader -> reader.countChanges(mark));
  }

  @Override
  public boolean awaitChange(long mark, Duration patience) throws InterruptedException {
    var deadline = time.deadline(patience);
    while (time.remaining(deadline) > 0) {
      if (closed) {
        throw new Rejection.Unavailable("the log is closed");
      }
      time.parkUntil(this, deadline);
      if (Thread.interrupted()) {
        throw new InterruptedException();
      }
    }
    return lastSealedBlock() > mark;
  }

  private CachedContext context(ContextId id) {
    var context =
        contexts.computeIfAbsent(
            id,
            absent ->
                ContextDamage.reportErrors(
                    absent, () -> readerThreads.lookUp(reader -> reader.load(absent, memory))));
    context.checkDurable();
    return context;
  }

  @Override
  public List<Entry> read(ContextId id, Position after, int limit) {
    var context = context(id);
    return ContextDamage.reportErrors(id, () -> entryReader.entriesAfter(context, after, limit));
  }

  @Override
  public Position head(ContextId id) {
    return context(id).sealedTo;
  }

  @Override
  public <T> T inspect(ContextId id, Function<ContextState, T> look) {
    var context = context(id);
    context.lock.lock();
    try {
      return look.apply(context.durableState());
    } finally {
      context.lock.unlock();
    }
  }

  @Override
  public String owner(ContextId id) {
    return inspect(id, ContextState::owner);
  }

  @Override
  public List<ContextId> withOpenTasks() {
    return readerThreads.lookUp(BlockStore.StoreReader::withOpenTasks);
  }

  @Override
  public boolean inMemory(ContextId id, Position after) {
    return false;
  }

  @Override
  public boolean create(ContextId context, ContextCreated created) {
    throw readOnly();
  }

  @Override
  public boolean fork(ContextId fork, ContextForked forked, List<EventDraft> more) {
    throw readOnly();
  }

  @Override
  public AppendResult append(ContextId context, AppendGuard appendGuard, Decision decide) {
    throw readOnly();
  }

  @Override
  public void delete(ContextId context) {
    throw readOnly();
  }

  @Override
  public boolean await(ContextId context, Position after, Duration patience) {
    throw readOnly();
  }

  @Override
  public ChangeRegistration listen(ContextId context, Runnable listener) {
    throw readOnly();
  }

  private static Rejection.Unavailable readOnly() {
    return new Rejection.Unavailable("another server writes this log");
  }

  @Override
  public void close() {
    closed = true;
    readerThreads.close();
  }
}
