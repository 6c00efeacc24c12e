package dev.parley.app;

import dev.parley.protocol.ReportEvent.Usage;
import java.math.BigDecimal;
import java.math.RoundingMode;
import org.jspecify.annotations.Nullable;

/// The cost of a task and all its subtasks. For one thread.
final class TaskTreeCost {

  private static final int DECIMALS = 4;

  private long tokens;
  private @Nullable BigDecimal cost;

  void add(Usage usage) {
    tokens += usage.totalTokens();
    if (usage.costUsd() != null) {
      cost = cost == null ? usage.costUsd() : cost.add(usage.costUsd());
    }
  }

  /// For example `, 8 tokens, $0.0012`; empty if no model was called.
  String text() {
    if (tokens == 0) {
      return "";
    }
    return ", "
        + tokens
        + " tokens"
        + (cost == null
            ? ""
            : ", $" + cost.setScale(DECIMALS, RoundingMode.HALF_UP).toPlainString());
  }
}
