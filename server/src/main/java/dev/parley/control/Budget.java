package dev.parley.control;

import dev.parley.protocol.BudgetView.BudgetGroup;
import dev.parley.protocol.BudgetView.BudgetPeriod;
import dev.parley.protocol.BudgetView.BudgetResource;
import dev.parley.protocol.TaskAccount;
import java.math.BigDecimal;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.EnumMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/// A limit of what people, keys, tenants or agents may use in a period.
///
/// @param matching whose use counts
/// @param limits the amount of each limited resource; megabytes are 1,000,000 bytes
/// @param warnPercent the part of the limit from which on the budget warns
/// @param stops false if the budget only warns
public record Budget(
    String name,
    BudgetGroup per,
    BudgetMatch matching,
    BudgetPeriod period,
    Map<BudgetResource, BigDecimal> limits,
    int warnPercent,
    boolean stops) {

  /// Whose use counts. An empty set is no restriction.
  public record BudgetMatch(
      Set<String> people, Set<String> keys, Set<String> tenants, Set<String> agents) {

    /// Everybody's.
    public static final BudgetMatch ALL = new BudgetMatch(Set.of(), Set.of(), Set.of(), Set.of());

    public BudgetMatch {
      people = Set.copyOf(people);
      keys = Set.copyOf(keys);
      tenants = Set.copyOf(tenants);
      agents = Set.copyOf(agents);
    }
  }

  public Budget {
    limits = Map.copyOf(new EnumMap<>(limits));
  }

  /// The group in which the use of this account and agent counts; empty if it does not count. The
  /// name of the group of all is empty. `agent` is empty for what no agent uses.
  Optional<String> group(TaskAccount account, String agent) {
    var key = account.credential() == null ? "" : account.credential();
    var counts =
        in(matching.people(), account.principal())
            && in(matching.keys(), key)
            && in(matching.tenants(), account.tenantName())
            && in(matching.agents(), agent);
    if (!counts) {
      return Optional.empty();
    }
    return switch (per) {
      case ALL -> Optional.of("");
      case PERSON -> Optional.of(account.principal());
      case KEY -> Optional.of(key).filter(id -> !id.isEmpty());
      case TENANT -> Optional.of(account.tenantName());
      case AGENT -> Optional.of(agent).filter(id -> !id.isEmpty());
    };
  }

  private static boolean in(Set<String> names, String name) {
    return names.isEmpty() || names.contains(name);
  }

  /// The start of the period that contains this time.
  Instant start(Instant time) {
    return start(period, time);
  }

  static Instant start(BudgetPeriod period, Instant time) {
    return switch (period) {
      case HOUR -> time.truncatedTo(ChronoUnit.HOURS);
      case MONTH ->
          time.atZone(ZoneOffset.UTC).truncatedTo(ChronoUnit.DAYS).withDayOfMonth(1).toInstant();
    };
  }

  /// The end of the period that starts then.
  Instant end(Instant start) {
    return switch (period) {
      case HOUR -> start.plus(1, ChronoUnit.HOURS);
      case MONTH -> start.atZone(ZoneOffset.UTC).plusMonths(1).toInstant();
    };
  }
}
