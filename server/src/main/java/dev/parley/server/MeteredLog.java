package dev.parley.server;

import dev.parley.http.Metric;
import dev.parley.http.Metrics;
import dev.parley.log.AppendGuard;
import dev.parley.log.AppendResult;
import dev.parley.log.ChangedContexts;
import dev.parley.log.ContextState;
import dev.parley.log.Decision;
import dev.parley.log.EventDraft;
import dev.parley.log.EventLog;
import dev.parley.protocol.ContextEvent.ContextCreated;
import dev.parley.protocol.ContextEvent.ContextForked;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.EncryptionView;
import dev.parley.protocol.Entry;
import dev.parley.protocol.Position;
import dev.parley.protocol.Rejection;
import dev.parley.runtime.Time;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/// A log that measures appends.
final class MeteredLog implements EventLog {

  private final EventLog log;
  private final Time time;
  private final Metrics.Counter events;
  private final Metrics.Counter failures;
  private final Metrics.Histogram latency;
  private final List<AppendObserver> observers;

  /// Called with the events of an append when they are durable, on the appending thread. Must be
  /// quick.
  interface AppendObserver {
    void appended(ContextId context, List<EventDraft> drafts);
  }

  MeteredLog(EventLog log, Metrics metrics, Time time, List<AppendObserver> observers) {
    this.log = log;
    this.time = time;
    this.observers = List.copyOf(observers);
    this.events = metrics.counter(Metric.EVENTS);
    this.failures = metrics.counter(Metric.APPENDS_FAILED);
    this.latency = metrics.histogram(Metric.APPEND_SECONDS);
  }

  @Override
  public boolean create(ContextId context, ContextCreated created) {
    var fresh = log.create(context, created);
    if (fresh) {
      events.increment();
    }
    return fresh;
  }

  @Override
  public boolean fork(ContextId fork, ContextForked forked, List<EventDraft> more) {
    var fresh = log.fork(fork, forked, more);
    if (fresh) {
      events.increment();
    }
    return fresh;
  }

  @Override
  public AppendResult append(ContextId context, AppendGuard appendGuard, Decision decide) {
    var begin = time.nanos();
    var added = new AtomicReference<List<EventDraft>>(List.of());
    try {
      var appendResult =
          log.append(
              context,
              appendGuard,
              state -> {
                var drafts = decide.decide(state);
                added.setPlain(drafts);
                return drafts;
              });
      latency.record(time.nanos() - begin);
      var drafts = added.getPlain();
      events.add(drafts.size());
      observers.forEach(appendObserver -> appendObserver.appended(context, drafts));
      return appendResult;
    } catch (Rejection.Unavailable failed) {
      failures.increment();
      throw failed;
    }
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
  public void delete(
      ContextId context, @Nullable String principal, Consumer<ContextState> allowed) {
    log.delete(context, principal, allowed);
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
  public long countChanges(long mark) {
    return log.countChanges(mark);
  }

  @Override
  public boolean awaitChange(long mark, Duration patience) throws InterruptedException {
    return log.awaitChange(mark, patience);
  }

  @Override
  public Optional<EncryptionView> encryption() {
    return log.encryption();
  }

  @Override
  public void rotateKeys() {
    log.rotateKeys();
  }

  @Override
  public Optional<String> outage() {
    return log.outage();
  }

  @Override
  public void close() {
    log.close();
  }
}
