package dev.parley.server;

import static dev.parley.server.ConfigFile.or;
import static dev.parley.server.ConfigProblem.invalid;

import dev.parley.control.Budget;
import dev.parley.control.Budget.BudgetMatch;
import dev.parley.protocol.BudgetView.BudgetGroup;
import dev.parley.protocol.BudgetView.BudgetPeriod;
import dev.parley.protocol.BudgetView.BudgetResource;
import dev.parley.server.ConfigFile.BudgetSection;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Reads the budgets of the configuration.
final class BudgetConfigReader {

  private static final int WARN_PERCENT = 80;
  private static final int BUDGETS_MAX = 100;

  private BudgetConfigReader() {}

  static List<Budget> read(List<BudgetSection> sections, ConfigProblems problems) {
    if (sections.size() > BUDGETS_MAX) {
      problems.add(invalid("budgets", "there may be at most " + BUDGETS_MAX));
      return List.of();
    }
    var budgets = new ArrayList<Budget>();
    var names = new HashSet<String>();
    for (var i = 0; i < sections.size(); i++) {
      var section = sections.get(i);
      var path = "budgets[" + i + "]";
      var budget = problems.collect(() -> budget(section, path));
      if (budget != null) {
        if (!names.add(budget.name())) {
          problems.add(invalid(path + ".name", "another budget has the name " + budget.name()));
        }
        budgets.add(budget);
      }
    }
    return budgets;
  }

  private static Budget budget(BudgetSection section, String path) {
    if (section.name() == null || section.name().isBlank()) {
      throw invalid(path + ".name", "a name is needed, such as everybody");
    }
    var per =
        section.per() == null
            ? BudgetGroup.ALL
            : ConfigProblem.choice(path + ".per", section.per(), BudgetGroup.class);
    var period =
        section.period() == null
            ? BudgetPeriod.MONTH
            : ConfigProblem.choice(path + ".period", section.period(), BudgetPeriod.class);
    var match =
        new BudgetMatch(
            names(section.people()),
            names(section.keys()),
            names(section.tenants()),
            names(section.agents()));
    var warnPercent = or(section.warnPercent(), WARN_PERCENT);
    if (warnPercent < 1 || warnPercent > 100) {
      throw invalid(path + ".warnPercent", "must be between 1 and 100; found " + warnPercent);
    }
    var limits = limits(section, path);
    var ofAgents = per == BudgetGroup.AGENT || !match.agents().isEmpty();
    for (var resource : List.of(BudgetResource.REQUESTS, BudgetResource.STREAMS)) {
      if (ofAgents && limits.containsKey(resource)) {
        throw invalid(
            path + "." + resource.wire(), "is not possible for agents: no agent sends requests");
      }
    }
    return new Budget(
        section.name(), per, match, period, limits, warnPercent, or(section.stop(), true));
  }

  private static Set<String> names(@Nullable List<String> names) {
    return Set.copyOf(or(names, List.of()));
  }

  private static Map<BudgetResource, BigDecimal> limits(BudgetSection section, String path) {
    var limits = new EnumMap<BudgetResource, BigDecimal>(BudgetResource.class);
    put(limits, BudgetResource.TOKENS, section.tokens(), path + ".tokens");
    put(limits, BudgetResource.DOLLARS, section.dollars(), path + ".dollars");
    put(limits, BudgetResource.TASKS, section.tasks(), path + ".tasks");
    put(limits, BudgetResource.TOOL_CALLS, section.toolCalls(), path + ".toolCalls");
    put(limits, BudgetResource.MEGABYTES, section.megabytes(), path + ".megabytes");
    put(limits, BudgetResource.REQUESTS, section.requests(), path + ".requests");
    put(limits, BudgetResource.STREAMS, section.streams(), path + ".streams");
    if (limits.isEmpty()) {
      throw invalid(
          path,
          "a limit is needed: tokens, dollars, tasks, toolCalls, megabytes, requests or streams");
    }
    return limits;
  }

  private static void put(
      Map<BudgetResource, BigDecimal> limits,
      BudgetResource resource,
      @Nullable BigDecimal limit,
      String path) {
    if (limit != null) {
      if (limit.signum() <= 0) {
        throw invalid(path, "must be more than 0; found " + limit.toPlainString());
      }
      limits.put(resource, limit);
    }
  }
}
