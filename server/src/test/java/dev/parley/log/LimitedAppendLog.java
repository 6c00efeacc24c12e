package dev.parley.log;

import dev.parley.protocol.ContextEvent.ContextCreated;
import dev.parley.protocol.ContextEvent.ContextForked;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Entry;
import dev.parley.protocol.Position;
import dev.parley.protocol.Rejection;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.function.Supplier;

/// A log that accepts a given number of appends and then rejects all others, as if its process had
/// died.
public final class LimitedAppendLog implements EventLog {

  private final EventLog log;
  private final AtomicInteger left;
  private final Supplier<Rejection> rejection;
  private final CountDownLatch rejected = new CountDownLatch(1);

  public LimitedAppendLog(EventLog log, int appends, Supplier<Rejection> refusal) {
    this.log = log;
    this.left = new AtomicInteger(appends);
    this.rejection = refusal;
  }

  /// Accepts this many further appends.
  public void allow(int appends) {
    left.set(appends);
  }

  public boolean exhausted() {
    return left.get() <= 0;
  }

  public void awaitRejection() throws InterruptedException {
    rejected.await();
  }

  @Override
  public AppendResult append(ContextId context, AppendGuard appendGuard, Decision decide) {
    // The decision runs under the lock of the log, so that no append can pass this check later.
    return log.append(
        context,
        appendGuard,
        state -> {
          if (left.get() <= 0) {
            rejected.countDown();
            throw rejection.get();
          }
          var drafts = decide.decide(state);
          left.decrementAndGet();
          return drafts;
        });
  }

  @Override
  public boolean create(ContextId context, ContextCreated created) {
    return log.create(context, created);
  }

  @Override
  public boolean fork(ContextId fork, ContextForked forked, List<EventDraft> more) {
    return log.fork(fork, forked, more);
  }

  @Override
  public List<Entry> read(ContextId context, Position after, int limit) {
    return log.read(context, after, limit);
  }

  @Override
  public Position head(ContextId context) {
    return log.head(context);
  }

  @Override
  public boolean await(ContextId context, Position after, Duration patience)
      throws InterruptedException {
    return log.await(context, after, patience);
  }

  @Override
  public ChangeRegistration listen(ContextId context, Runnable listener) {
    return log.listen(context, listener);
  }

  @Override
  public boolean inMemory(ContextId context, Position after) {
    return log.inMemory(context, after);
  }

  @Override
  public <T> T inspect(ContextId context, Function<ContextState, T> look) {
    return log.inspect(context, look);
  }

  @Override
  public String owner(ContextId context) {
    return log.owner(context);
  }

  @Override
  public void delete(ContextId context) {
    log.delete(context);
  }

  @Override
  public List<ContextId> withOpenTasks() {
    return log.withOpenTasks();
  }

  @Override
  public ChangedContexts changes(long mark, int limit) {
    return log.changes(mark, limit);
  }

  @Override
  public boolean awaitChange(long mark, Duration patience) throws InterruptedException {
    return log.awaitChange(mark, patience);
  }

  @Override
  public void close() {
    log.close();
  }
}
