package dev.parley.log;

import dev.parley.protocol.ContentEvent.ContentComplete;
import dev.parley.protocol.ContentEvent.ContentDelta;
import dev.parley.protocol.ContextEvent.ContextCreated;
import dev.parley.protocol.ContextEvent.ContextForked;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Entry;
import dev.parley.protocol.Position;
import dev.parley.protocol.Rejection;
import dev.parley.runtime.Time;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.Supplier;

/// An event log in memory: the smallest implementation that passes the contract.
///
/// The monitor guards everything.
public final class MemoryLog implements EventLog {

  private final Map<ContextId, Context> contexts = new LinkedHashMap<>();
  private final Set<ContextId> deleted = new HashSet<>();
  private final Set<Runnable> listeners = ConcurrentHashMap.newKeySet();
  private final Time time;
  private long mark;

  public MemoryLog() {
    this(TestLogs.TIME);
  }

  public MemoryLog(Time time) {
    this.time = time;
  }

  public Time time() {
    return time;
  }

  private static final class Context {
    final List<Entry> entries = new ArrayList<>();
    final Map<String, AppendResult> keys = new HashMap<>();
    final Map<String, String> hashes = new HashMap<>();
    ContextState state = new ContextState();
    long mark;

    void share(ContextId id, Entry entry) {
      state.apply(entry.origin(), entry.event(), entry.position());
      entries.add(
          new Entry(
              id,
              entry.position(),
              entry.eventId(),
              entry.timestamp(),
              entry.origin(),
              entry.event()));
    }

    EventDraft withText(EventDraft eventDraft) {
      if (!(eventDraft.event() instanceof ContentComplete end) || eventDraft.origin() == null) {
        return eventDraft;
      }
      var first =
          state
              .openTask(eventDraft.origin().taskId())
              .orElseThrow()
              .openBlocks()
              .get(end.blockId());
      var text = new StringBuilder();
      for (var entry : entries) {
        if (entry.event() instanceof ContentDelta delta
            && entry.position().seq() >= first.firstSeq()
            && eventDraft.origin().taskId().equals(entry.taskId())
            && Objects.equals(delta.blockId(), end.blockId())) {
          text.append(delta.delta());
        }
      }
      return new EventDraft(
          eventDraft.origin(),
          new ContentComplete(
              text.toString(), end.blockId(), end.finishReason(), end.partial(), null, null));
    }
  }

  @Override
  public boolean create(ContextId id, ContextCreated created) {
    return locked(
        () -> {
          if (deleted.contains(id)) {
            throw new Rejection.Gone("the context was deleted: " + id);
          }
          if (contexts.containsKey(id)) {
            return false;
          }
          var context = new Context();
          contexts.put(id, context);
          add(id, context, List.of(EventDraft.of(created)));
          return true;
        });
  }

  /// Copies the entries, as a reference for the forks of other logs.
  @Override
  public boolean fork(ContextId id, ContextForked forked, List<EventDraft> more) {
    return locked(
        () -> {
          var source = context(forked.sourceContextId());
          var head = source.state.head().seq();
          if (forked.atSeq() < 1 || forked.atSeq() > head) {
            throw ForkPreparer.outOfRange(forked.atSeq(), head);
          }
          if (deleted.contains(id)) {
            throw new Rejection.Gone("the context was deleted: " + id);
          }
          if (contexts.containsKey(id)) {
            return false;
          }
          var context = new Context();
          contexts.put(id, context);
          source.entries.stream()
              .filter(entry -> entry.position().seq() <= forked.atSeq())
              .forEach(entry -> context.share(id, entry));
          var drafts = new ArrayList<>(List.of(EventDraft.of(forked)));
          ForkedTaskEnds.of(context.state).forEach(end -> drafts.add(context.withText(end)));
          drafts.addAll(more);
          add(id, context, drafts);
          return true;
        });
  }

  @Override
  public AppendResult append(ContextId id, AppendGuard appendGuard, Decision decide) {
    return locked(
        () -> {
          var context = context(id);
          switch (appendGuard) {
            case AppendGuard.NoGuard() -> {}
            case AppendGuard.ExpectedHead(var head) -> {
              if (!context.state.head().equals(head)) {
                throw new Rejection.Stale("the context has events after " + head);
              }
            }
            case AppendGuard.IdempotencyKey(var principal, var key, var hash) -> {
              var earlier = context.keys.get(principal + "\n" + key);
              if (earlier != null) {
                if (!hash.equals(context.hashes.get(principal + "\n" + key))) {
                  throw new Rejection.Conflict(
                      "idempotency-key-reused", "the key was used with another body");
                }
                return earlier;
              }
            }
          }
          var result = add(id, context, decide.decide(context.state));
          if (appendGuard instanceof AppendGuard.IdempotencyKey(var principal, var key, var hash)) {
            context.keys.put(
                principal + "\n" + key, new AppendResult(result.first(), result.last(), true));
            context.hashes.put(principal + "\n" + key, hash);
          }
          return result;
        });
  }

  private AppendResult add(ContextId id, Context context, List<EventDraft> drafts) {
    var next = context.state.copy();
    var added = new ArrayList<Entry>();
    for (var eventDraft : drafts) {
      var head = next.head();
      var position = eventDraft.event().internal() ? head.nextInternal() : head.nextPublic();
      next.validateAndApply(eventDraft, position);
      added.add(
          new Entry(
              id,
              position,
              new UUID(id.hashCode(), position.seq() << 16 | position.k()),
              Instant.ofEpochMilli(time.millis()),
              eventDraft.origin(),
              eventDraft.event()));
    }
    context.state = next;
    context.entries.addAll(added);
    context.mark = ++mark;
    notifyAll();
    listeners.forEach(Runnable::run);
    var first = added.isEmpty() ? next.head() : added.getFirst().position();
    return new AppendResult(first, context.state.head(), false);
  }

  @Override
  public List<Entry> read(ContextId id, Position after, int limit) {
    return locked(
        () ->
            context(id).entries.stream()
                .filter(e -> e.position().after(after))
                .limit(limit)
                .toList());
  }

  @Override
  public Position head(ContextId id) {
    return locked(() -> context(id).state.head());
  }

  @Override
  public boolean await(ContextId id, Position after, Duration patience)
      throws InterruptedException {
    return await(() -> context(id).state.head().after(after), patience);
  }

  @Override
  public ChangeRegistration listen(ContextId id, Runnable listener) {
    locked(() -> context(id));
    listeners.add(listener);
    return () -> listeners.remove(listener);
  }

  @Override
  public boolean inMemory(ContextId id, Position after) {
    return true;
  }

  private synchronized boolean await(BooleanSupplier happened, Duration patience)
      throws InterruptedException {
    var deadline = time.deadline(patience);
    while (!happened.getAsBoolean()) {
      if (time.remaining(deadline) <= 0) {
        return false;
      }
      time.waitUntil(this, deadline);
    }
    return true;
  }

  @Override
  public <T> T inspect(ContextId id, Function<ContextState, T> look) {
    return locked(() -> look.apply(context(id).state));
  }

  @Override
  public String owner(ContextId id) {
    return locked(() -> context(id).state.owner());
  }

  @Override
  public void delete(ContextId id) {
    locked(
        () -> {
          context(id);
          contexts.remove(id);
          deleted.add(id);
          notifyAll();
          listeners.forEach(Runnable::run);
          return true;
        });
  }

  @Override
  public List<ContextId> withOpenTasks() {
    return locked(
        () ->
            contexts.entrySet().stream()
                .filter(e -> !e.getValue().state.openTasks().isEmpty())
                .map(Map.Entry::getKey)
                .toList());
  }

  @Override
  public boolean awaitChange(long mark, Duration patience) throws InterruptedException {
    return await(
        () -> contexts.values().stream().anyMatch(context -> context.mark > mark), patience);
  }

  @Override
  public ChangedContexts changes(long since, int limit) {
    return locked(
        () -> {
          var found =
              contexts.entrySet().stream()
                  .filter(e -> e.getValue().mark > since)
                  .sorted((a, b) -> Long.compare(a.getValue().mark, b.getValue().mark))
                  .limit(limit)
                  .toList();
          var mark = found.isEmpty() ? since : found.getLast().getValue().mark;
          var last =
              Math.max(
                  since, contexts.values().stream().mapToLong(c -> c.mark).max().orElse(since));
          return new ChangedContexts(found.stream().map(Map.Entry::getKey).toList(), mark, last);
        });
  }

  @Override
  public void close() {}

  private Context context(ContextId id) {
    if (deleted.contains(id)) {
      throw new Rejection.Gone("the context was deleted: " + id);
    }
    var context = contexts.get(id);
    if (context == null) {
      throw new Rejection.NotFound("no such context: " + id);
    }
    return context;
  }

  private synchronized <T> T locked(Supplier<T> work) {
    return work.get();
  }
}
