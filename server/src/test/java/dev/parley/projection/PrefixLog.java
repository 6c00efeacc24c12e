package dev.parley.projection;

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
import dev.parley.protocol.Entry;
import dev.parley.protocol.Position;
import java.time.Duration;
import java.util.List;
import java.util.function.Function;

/// A read-only log that ends at a position of another log.
record PrefixLog(EventLog log, Position last) implements EventLog {

  @Override
  public boolean create(ContextId context, ContextCreated created) {
    throw new UnsupportedOperationException();
  }

  @Override
  public boolean fork(ContextId fork, ContextForked forked, List<EventDraft> more) {
    throw new UnsupportedOperationException();
  }

  @Override
  public AppendResult append(ContextId context, AppendGuard appendGuard, Decision decide) {
    throw new UnsupportedOperationException();
  }

  @Override
  public List<Entry> read(ContextId context, Position after, int limit) {
    return log.read(context, after, limit).stream()
        .takeWhile(entry -> !entry.position().after(last))
        .toList();
  }

  @Override
  public Position head(ContextId context) {
    return log.head(context).after(last) ? last : log.head(context);
  }

  @Override
  public boolean await(ContextId context, Position after, Duration patience) {
    throw new UnsupportedOperationException();
  }

  @Override
  public ChangeRegistration listen(ContextId context, Runnable listener) {
    throw new UnsupportedOperationException();
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
    throw new UnsupportedOperationException();
  }

  @Override
  public List<ContextId> withOpenTasks() {
    throw new UnsupportedOperationException();
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
  public void close() {}
}
