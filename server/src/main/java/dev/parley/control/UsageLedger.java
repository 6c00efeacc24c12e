package dev.parley.control;

import dev.parley.control.ControlStorage.ControlChange;
import dev.parley.log.EventLog;
import dev.parley.log.OpenTask;
import dev.parley.protocol.BudgetView.BudgetPeriod;
import dev.parley.protocol.BudgetView.BudgetResource;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Json;
import dev.parley.protocol.Position;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.TaskAccount;
import dev.parley.protocol.TaskId;
import dev.parley.runtime.Time;
import java.lang.System.Logger.Level;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// What accounts and agents have used, by hour: computed from the log.
///
/// The totals are stored together with the position of each context up to which they are complete.
/// After a crash, counting continues at these positions, so nothing is lost or counted twice. Requests
/// and streams are not in the log: what was counted since the last write is lost in a crash.
///
/// Thread-safe: the monitor guards all fields. The log and the storage are read under it.
final class UsageLedger implements AutoCloseable {

  private static final System.Logger LOG = System.getLogger(UsageLedger.class.getName());
  private static final String TOTALS = "usage";
  private static final String POSITION = "usage-position";
  private static final String MARK = "usage-mark";
  private static final int PAGE = 500;
  private static final int CONTEXTS_MAX = 5_000;
  private static final Duration WRITE_PAUSE = Duration.ofSeconds(30);

  /// Whose use it was, in which hour since 1970.
  private record UsageKey(
      long hour,
      String principal,
      @Nullable String tenant,
      @Nullable String credential,
      String agent) {

    TaskAccount account() {
      return new TaskAccount(principal, tenant, credential);
    }

    Instant time() {
      return Instant.ofEpochSecond(hour * 3_600);
    }
  }

  private record StoredMark(long mark) {}

  /// Is told what is used. It is called under the monitor.
  interface UsageListener {
    void used(
        Instant time,
        TaskAccount account,
        String agent,
        BudgetResource resource,
        BigDecimal amount);
  }

  private final EventLog log;
  private final ControlStorage storage;
  private final Time time;
  private final UsageListener listener;
  private final Map<UsageKey, Map<BudgetResource, BigDecimal>> totals = new HashMap<>();
  private final Map<ContextId, ContextUsage> contexts = new HashMap<>();
  private final Set<UsageKey> unwrittenTotals = new HashSet<>();
  private final Set<ContextId> unwrittenContexts = new HashSet<>();
  private final Instant since;
  private Time.Timer timer;
  private long mark;
  private boolean closed;

  UsageLedger(EventLog log, ControlStorage storage, Time time, UsageListener listener) {
    this.log = log;
    this.storage = storage;
    this.time = time;
    this.listener = listener;
    this.since = Budget.start(BudgetPeriod.MONTH, time.instant());
    storage
        .load(TOTALS)
        .forEach(
            (id, data) -> {
              var key = Json.read(id.getBytes(StandardCharsets.UTF_8), UsageKey.class);
              Json.mapper()
                  .readTree(data)
                  .forEachEntry(
                      (name, amount) ->
                          add(
                              key,
                              BudgetResource.valueOf(name),
                              new BigDecimal(amount.asString())));
            });
    unwrittenTotals.clear();
    this.mark =
        storage
            .find(MARK, "log")
            .map(data -> Json.read(data.getBytes(StandardCharsets.UTF_8), StoredMark.class).mark())
            .orElse(0L);
    this.timer = time.schedule("usage", WRITE_PAUSE, this::writeLater);
  }

  /// Counts everything that is in the log.
  ///
  /// @throws Rejection.Unavailable if the log cannot be read
  synchronized void catchUp() {
    while (!closed) {
      var changed = log.changes(mark, PAGE);
      changed.contexts().forEach(this::count);
      if (changed.mark() <= mark) {
        return;
      }
      mark = changed.mark();
    }
  }

  private void count(ContextId context) {
    try {
      var usage = contexts.get(context);
      if (usage == null) {
        usage =
            storage
                .find(POSITION, context.value())
                .map(ContextUsage::parse)
                .orElseGet(() -> new ContextUsage(firstPosition(context)));
        contexts.put(context, usage);
      }
      for (var page = log.read(context, usage.position(), PAGE);
          !page.isEmpty();
          page = log.read(context, usage.position(), PAGE)) {
        for (var entry : page) {
          var hour = entry.timestamp().getEpochSecond() / 3_600;
          usage.add(
              entry,
              root -> account(context, root),
              (account, agent, resource, amount) -> add(hour, account, agent, resource, amount));
        }
        unwrittenContexts.add(context);
      }
    } catch (Rejection.NotFound | Rejection.Gone deleted) {
      // It was counted before its deletion.
      contexts.remove(context);
      unwrittenContexts.add(context);
    } catch (Rejection.Damaged unreadable) {
      contexts.remove(context);
    }
  }

  /// The position after which counting begins in a context that is seen for the first time: after
  /// what it shares with another context, and in this month.
  private Position firstPosition(ContextId context) {
    var low = log.inspect(context, state -> state.sharedTo());
    var high = log.head(context).seq();
    // The timestamps never decrease. The entry after `low` is the first one that may count.
    while (low < high) {
      var middle = (low + high) / 2;
      var next = log.read(context, Position.of(middle), 1);
      if (next.isEmpty() || !next.getFirst().timestamp().isBefore(since)) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    return Position.of(low);
  }

  private TaskAccount account(ContextId context, TaskId root) {
    return log.inspect(
        context,
        state ->
            state
                .openTask(root)
                .map(OpenTask::created)
                .flatMap(created -> created.facts().account())
                .orElseGet(() -> TaskAccount.of(state.owner())));
  }

  /// Counts something that is not in the log.
  synchronized void add(TaskAccount account, BudgetResource resource) {
    add(time.instant().getEpochSecond() / 3_600, account, "", resource, BigDecimal.ONE);
  }

  private void add(
      long hour, TaskAccount account, String agent, BudgetResource resource, BigDecimal amount) {
    if (amount.signum() > 0) {
      add(
          new UsageKey(hour, account.principal(), account.tenant(), account.credential(), agent),
          resource,
          amount);
    }
  }

  private void add(UsageKey key, BudgetResource resource, BigDecimal amount) {
    totals
        .computeIfAbsent(key, _ -> new EnumMap<>(BudgetResource.class))
        .merge(resource, amount, BigDecimal::add);
    unwrittenTotals.add(key);
    listener.used(key.time(), key.account(), key.agent(), resource, amount);
  }

  private void writeLater() {
    try {
      catchUp();
      write();
    } catch (Rejection.Unavailable later) {
      LOG.log(Level.WARNING, "what tasks have used is not stored yet: {0}", later.getMessage());
    }
    synchronized (this) {
      if (!closed) {
        timer = time.schedule("usage", WRITE_PAUSE, this::writeLater);
      }
    }
  }

  /// Makes the totals and the positions durable, all or none.
  synchronized void write() {
    if (unwrittenTotals.isEmpty() && unwrittenContexts.isEmpty()) {
      return;
    }
    var changes = new ArrayList<ControlChange>();
    var old = Budget.start(BudgetPeriod.MONTH, time.instant()).getEpochSecond() / 3_600;
    for (var key : unwrittenTotals) {
      var amounts = Json.object();
      totals
          .getOrDefault(key, Map.of())
          .forEach((resource, sum) -> amounts.put(resource.name(), sum.toPlainString()));
      changes.add(new ControlChange(TOTALS, text(key), amounts.toString()));
    }
    var ended = totals.keySet().stream().filter(key -> key.hour() < old).toList();
    ended.forEach(key -> changes.add(new ControlChange(TOTALS, text(key), null)));
    for (var context : unwrittenContexts) {
      var usage = contexts.get(context);
      changes.add(
          new ControlChange(POSITION, context.value(), usage == null ? null : usage.text()));
    }
    changes.add(new ControlChange(MARK, "log", text(new StoredMark(mark))));
    storage.write(changes);
    ended.forEach(totals::remove);
    unwrittenTotals.clear();
    unwrittenContexts.clear();
    if (contexts.size() > CONTEXTS_MAX) {
      contexts.clear();
    }
  }

  /// Counts what a context has used, durably: it is about to be deleted.
  synchronized void settle(ContextId context) {
    count(context);
    write();
  }

  private static String text(Object value) {
    return new String(Json.bytes(value), StandardCharsets.UTF_8);
  }

  @Override
  public synchronized void close() {
    closed = true;
    timer.cancel();
    try {
      write();
    } catch (Rejection.Unavailable later) {
      LOG.log(Level.WARNING, "what tasks have used was not stored: {0}", later.getMessage());
    }
  }
}
