package dev.parley.app;

import dev.parley.client.ParleyClient;
import dev.parley.protocol.BudgetView;
import dev.parley.protocol.BudgetView.BudgetState;
import java.math.BigDecimal;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/// `parley budgets`.
@Command(
    name = "budgets",
    mixinStandardHelpOptions = true,
    description = {
      "Lists what is used and left of your budgets; for operators, of all budgets.",
      "Budgets are set in the configuration."
    },
    footer = {"", "Example:", "  parley budgets"})
final class BudgetsCommand extends ServerCommand {

  private static final int TEXT_MAX = 60;

  @Option(names = "--json", description = "One JSON object per line.")
  private boolean json;

  BudgetsCommand(Terminal terminal) {
    super(terminal);
  }

  @Override
  void run(ParleyClient client) {
    var budgets = client.budgets();
    if (json) {
      printJson(budgets);
    } else if (budgets.isEmpty()) {
      terminal.err().println("There are no budgets.");
    } else {
      table(budgets).print(terminal.out(), terminal.outStyle());
    }
  }

  static AlignedTable table(List<BudgetView> budgets) {
    var table =
        new AlignedTable("BUDGET", "OF", "USED", "LIMIT", "LEFT", "WHAT", "RESETS", "STATE");
    for (var budget : budgets) {
      table.row(
          TextSanitizer.line(budget.name(), TEXT_MAX),
          budget.group() == null ? "all" : TextSanitizer.line(budget.group(), TEXT_MAX),
          plain(budget.used()),
          plain(budget.limit()),
          plain(budget.remaining()),
          budget.resource().wire().replace('-', ' ') + "/" + budget.period().wire(),
          AlignedTable.time(budget.resetsAt()),
          budget.state() == BudgetState.EXCEEDED && !budget.stops()
              ? "exceeded (warns only)"
              : budget.state().wire());
    }
    return table;
  }

  private static String plain(BigDecimal amount) {
    return amount.stripTrailingZeros().toPlainString();
  }
}
