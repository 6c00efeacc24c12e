package dev.parley.projection;

import dev.parley.protocol.ContextId;
import dev.parley.protocol.ContextSnapshot.UsageView;
import dev.parley.protocol.Entry;
import dev.parley.protocol.ReportEvent.Usage;
import java.math.BigDecimal;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/// One row per model call, and one per cost that is reported later, so that queries can exclude
/// rewound calls. The log has the total including those.
final class UsageTable {

  private final SqlSession sqlSession;

  UsageTable(SqlSession sqlSession) {
    this.sqlSession = sqlSession;
  }

  void add(Entry entry, Usage usage) throws SQLException {
    sqlSession.update(
        """
        INSERT INTO usage (context, seq, model, input_tokens, output_tokens,
          cache_creation_tokens, cache_read_tokens, cost_usd) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
        """,
        entry.contextId(),
        entry.position().seq(),
        usage.model(),
        usage.inputTokens(),
        usage.outputTokens(),
        orZero(usage.cacheCreationInputTokens()),
        orZero(usage.cacheReadInputTokens()),
        usage.costUsd() == null ? null : usage.costUsd().toString());
  }

  /// Returns the sums per model, sorted by name.
  List<UsageView> sums(ContextId context) throws SQLException {
    // Costs are added here, because SQLite would add them as binary fractions.
    var sums = new TreeMap<String, UsageView>();
    for (var call :
        sqlSession.list(
            """
            SELECT model, cost_usd, count(*) AS times,
              sum(cost_usd IS NULL
                OR input_tokens + output_tokens + cache_creation_tokens + cache_read_tokens > 0) AS calls,
              sum(input_tokens) AS input,
              sum(output_tokens) AS output, sum(cache_creation_tokens) AS creation,
              sum(cache_read_tokens) AS read
            FROM usage WHERE context = ? AND rewound = 0 GROUP BY model, cost_usd
            """,
            UsageTable::view,
            context)) {
      sums.merge(call.model(), call, UsageTable::sum);
    }
    return new ArrayList<>(sums.values());
  }

  private static UsageView view(Row row) throws SQLException {
    var cost = row.optionalDecimal("cost_usd");
    return new UsageView(
        row.text("model"),
        row.number("calls"),
        row.number("input"),
        row.number("output"),
        row.number("creation"),
        row.number("read"),
        cost == null ? null : cost.multiply(BigDecimal.valueOf(row.number("times"))));
  }

  private static UsageView sum(UsageView a, UsageView b) {
    return new UsageView(
        a.model(),
        a.calls() + b.calls(),
        a.inputTokens() + b.inputTokens(),
        a.outputTokens() + b.outputTokens(),
        a.cacheCreationInputTokens() + b.cacheCreationInputTokens(),
        a.cacheReadInputTokens() + b.cacheReadInputTokens(),
        sum(a.costUsd(), b.costUsd()));
  }

  private static @Nullable BigDecimal sum(@Nullable BigDecimal a, @Nullable BigDecimal b) {
    if (a == null || b == null) {
      return a == null ? b : a;
    }
    return a.add(b);
  }

  private static long orZero(@Nullable Long tokens) {
    return tokens == null ? 0 : tokens;
  }
}
