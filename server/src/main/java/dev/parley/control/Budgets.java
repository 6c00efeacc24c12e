package dev.parley.control;

import dev.parley.log.EventLog;
import dev.parley.protocol.BudgetView;
import dev.parley.protocol.BudgetView.BudgetGroup;
import dev.parley.protocol.BudgetView.BudgetResource;
import dev.parley.protocol.BudgetView.BudgetState;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.TaskAccount;
import dev.parley.runtime.Time;
import java.math.BigDecimal;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// The budgets of a server, and what is left of them. Thread-safe: the monitor guards the counters.
///
/// Locks are taken in the order `UsageLedger`, `Budgets`. Without budgets nothing is counted.
public final class Budgets implements AutoCloseable {

  /// The code of the rejection when a budget is used up.
  public static final String EXCEEDED = "budget-exceeded";

  /// What a task uses while it works.
  public static final Set<BudgetResource> WORK =
      EnumSet.of(BudgetResource.TOKENS, BudgetResource.DOLLARS, BudgetResource.MEGABYTES);

  /// What a new task needs.
  public static final Set<BudgetResource> NEW_TASK =
      EnumSet.of(
          BudgetResource.TOKENS,
          BudgetResource.DOLLARS,
          BudgetResource.MEGABYTES,
          BudgetResource.TASKS);

  private static final Set<BudgetResource> IN_LOG =
      EnumSet.complementOf(EnumSet.of(BudgetResource.REQUESTS, BudgetResource.STREAMS));
  private static final int COUNTERS_MAX = 100_000;

  private record Counter(int budget, String group, Instant start, BudgetResource resource) {}

  private final List<Budget> budgets;
  private final InstantSource time;
  private final Map<Counter, BigDecimal> used = new HashMap<>();
  private final Set<Counter> warned = new HashSet<>();
  private final @Nullable UsageLedger ledger;

  private Budgets() {
    this.budgets = List.of();
    this.time = () -> Instant.EPOCH; // Never used.
    this.ledger = null;
  }

  private Budgets(List<Budget> budgets, EventLog log, ControlStorage storage, Time time) {
    this.budgets = List.copyOf(budgets);
    this.time = time;
    this.ledger = new UsageLedger(log, storage, time, this::add);
  }

  /// No budgets.
  public static Budgets none() {
    return new Budgets();
  }

  /// These budgets; what was used before is read from the storage and the log.
  ///
  /// @throws Rejection.Unavailable if that cannot be read
  public static Budgets of(List<Budget> budgets, EventLog log, ControlStorage storage, Time time) {
    return budgets.isEmpty() ? none() : new Budgets(budgets, log, storage, time);
  }

  /// True if there are budgets.
  public boolean active() {
    return ledger != null;
  }

  private synchronized void add(
      Instant at, TaskAccount account, String agent, BudgetResource resource, BigDecimal amount) {
    for (var i = 0; i < budgets.size(); i++) {
      var budget = budgets.get(i);
      var group = budget.group(account, agent);
      if (budget.limits().containsKey(resource) && group.isPresent()) {
        used.merge(
            new Counter(i, group.get(), budget.start(at), resource), amount, BigDecimal::add);
      }
    }
    if (used.size() > COUNTERS_MAX) {
      removeOld();
    }
  }

  private void removeOld() {
    var now = time.instant();
    used.keySet().removeIf(counter -> !current(counter, now));
    warned.removeIf(counter -> !current(counter, now));
  }

  private boolean current(Counter counter, Instant now) {
    return counter.start().equals(budgets.get(counter.budget()).start(now));
  }

  /// The budget that is used up, if there is one, for a task of this account and agent that needs
  /// these resources. `agent` is empty if no agent is involved.
  public Optional<BudgetView> exceeded(
      TaskAccount account, String agent, Set<BudgetResource> resources) {
    return ledger == null
        ? Optional.empty()
        : views(account, agent, resources).stream()
            .filter(view -> view.stops() && view.state() == BudgetState.EXCEEDED)
            .findFirst();
  }

  /// Rejects a request for which a budget is used up.
  ///
  /// @throws Rejection.Busy `budget-exceeded`
  public void check(TaskAccount account, String agent, Set<BudgetResource> resources) {
    exceeded(account, agent, resources)
        .ifPresent(
            view -> {
              throw new Rejection.Busy(EXCEEDED, reason(view));
            });
  }

  /// The message for the person whose budget is used up.
  public static String reason(BudgetView view) {
    return view.text() + ". An operator can raise it: budgets in the configuration";
  }

  /// A budget of which so much is used that it warns, and that has not been reported in this period.
  public Optional<BudgetView> takeWarning(TaskAccount account, String agent) {
    if (ledger == null) {
      return Optional.empty();
    }
    return views(account, agent, IN_LOG).stream()
        .filter(view -> view.state() != BudgetState.OK)
        .filter(this::reportOnce)
        .findFirst();
  }

  private synchronized boolean reportOnce(BudgetView view) {
    for (var i = 0; i < budgets.size(); i++) {
      if (budgets.get(i).name().equals(view.name())) {
        var group = view.group() == null ? "" : view.group();
        var start = budgets.get(i).start(time.instant());
        return warned.add(new Counter(i, group, start, view.resource()));
      }
    }
    return false;
  }

  /// Counts a request or the opening of a stream, unless a budget for them is used up.
  ///
  /// @throws Rejection.Busy `budget-exceeded`
  public void use(TaskAccount account, BudgetResource resource) {
    if (ledger != null && budgets.stream().anyMatch(all -> all.limits().containsKey(resource))) {
      check(account, "", EnumSet.of(resource));
      ledger.add(account, resource);
    }
  }

  /// Counts a stream, whether or not a budget is used up.
  public void count(TaskAccount account, BudgetResource resource) {
    if (ledger != null) {
      ledger.add(account, resource);
    }
  }

  /// Counts what a context has used, because it is about to be deleted.
  ///
  /// @throws Rejection.Unavailable if that cannot be stored
  public void settle(ContextId context) {
    if (ledger != null) {
      ledger.settle(context);
    }
  }

  /// The budgets that apply to this account, for all agents that have used some of it.
  public List<BudgetView> of(TaskAccount account) {
    return all().stream()
        .filter(
            view ->
                switch (view.per()) {
                  case ALL, AGENT -> true;
                  case PERSON -> account.principal().equals(view.group());
                  case KEY -> view.group() != null && view.group().equals(account.credential());
                  case TENANT -> account.tenantName().equals(view.group());
                })
        .filter(view -> view.per() == BudgetGroup.AGENT || applies(view, account))
        .toList();
  }

  private boolean applies(BudgetView view, TaskAccount account) {
    return budgets.stream()
        .filter(budget -> budget.name().equals(view.name()))
        .anyMatch(
            budget ->
                budget.matching().agents().isEmpty()
                    ? budget.group(account, "").isPresent()
                    : budget.matching().agents().stream()
                        .anyMatch(agent -> budget.group(account, agent).isPresent()));
  }

  /// What every group has used in the current period, and all budgets that nobody has used.
  public List<BudgetView> all() {
    if (ledger == null) {
      return List.of();
    }
    ledger.catchUp();
    synchronized (this) {
      removeOld();
      var views = new ArrayList<BudgetView>();
      used.keySet().forEach(counter -> views.add(view(counter)));
      var now = time.instant();
      for (var i = 0; i < budgets.size(); i++) {
        var budget = budgets.get(i);
        if (budget.per() == BudgetGroup.ALL) {
          for (var resource : budget.limits().keySet()) {
            var counter = new Counter(i, "", budget.start(now), resource);
            if (!used.containsKey(counter)) {
              views.add(view(counter));
            }
          }
        }
      }
      views.sort(
          Comparator.comparing(BudgetView::name)
              .thenComparing(view -> view.group() == null ? "" : view.group())
              .thenComparing(BudgetView::resource));
      return views;
    }
  }

  private List<BudgetView> views(TaskAccount account, String agent, Set<BudgetResource> resources) {
    if (ledger != null && resources.stream().anyMatch(IN_LOG::contains)) {
      ledger.catchUp();
    }
    synchronized (this) {
      var now = time.instant();
      var views = new ArrayList<BudgetView>();
      for (var i = 0; i < budgets.size(); i++) {
        var budget = budgets.get(i);
        var group = budget.group(account, agent);
        if (group.isPresent()) {
          for (var resource : budget.limits().keySet()) {
            if (resources.contains(resource)) {
              views.add(view(new Counter(i, group.get(), budget.start(now), resource)));
            }
          }
        }
      }
      return views;
    }
  }

  private BudgetView view(Counter counter) {
    var budget = budgets.get(counter.budget());
    var limit = budget.limits().getOrDefault(counter.resource(), BigDecimal.ZERO);
    var amount = used.getOrDefault(counter, BigDecimal.ZERO);
    var warnFrom = limit.multiply(BigDecimal.valueOf(budget.warnPercent(), 2));
    var state =
        amount.compareTo(limit) >= 0
            ? BudgetState.EXCEEDED
            : amount.compareTo(warnFrom) >= 0 ? BudgetState.WARNING : BudgetState.OK;
    return new BudgetView(
        budget.name(),
        budget.per(),
        counter.group().isEmpty() ? null : counter.group(),
        budget.period(),
        counter.resource(),
        limit,
        amount,
        limit.subtract(amount).max(BigDecimal.ZERO),
        budget.end(counter.start()),
        budget.stops(),
        state);
  }

  @Override
  public void close() {
    if (ledger != null) {
      ledger.close();
    }
  }
}
