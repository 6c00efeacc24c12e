package dev.parley.protocol;

import java.math.BigDecimal;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/// What one group of a budget has used in the current period. `group` is the person, key, tenant or
/// agent; null if all share the budget. `stops` is false if the budget only warns.
public record BudgetView(
    String name,
    BudgetGroup per,
    @Nullable String group,
    BudgetPeriod period,
    BudgetResource resource,
    BigDecimal limit,
    BigDecimal used,
    BigDecimal remaining,
    Instant resetsAt,
    boolean stops,
    BudgetState state) {

  /// What a budget limits.
  public enum BudgetResource implements WireName {
    TOKENS,
    DOLLARS,
    TASKS,
    TOOL_CALLS,
    MEGABYTES,
    REQUESTS,
    STREAMS
  }

  /// Who shares a budget.
  public enum BudgetGroup implements WireName {
    ALL,
    PERSON,
    KEY,
    TENANT,
    AGENT
  }

  /// How long a budget lasts: an hour or a month of UTC.
  public enum BudgetPeriod implements WireName {
    HOUR,
    MONTH
  }

  /// Whether the budget is used up.
  public enum BudgetState implements WireName {
    OK,
    WARNING,
    EXCEEDED
  }

  /// One line that says what is used up, and until when.
  public String text() {
    return "the budget %s%s has used %s of %s %s this %s; it starts again at %s"
        .formatted(
            name,
            group == null ? "" : " of " + group,
            used.stripTrailingZeros().toPlainString(),
            limit.stripTrailingZeros().toPlainString(),
            resource.wire().replace('-', ' '),
            period.wire(),
            resetsAt);
  }
}
