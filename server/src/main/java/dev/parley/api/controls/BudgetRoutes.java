package dev.parley.api.controls;

import dev.parley.control.Budgets;
import dev.parley.http.Reply;
import dev.parley.http.Request;
import dev.parley.http.ResponseDescription;
import dev.parley.http.Route;
import dev.parley.protocol.BudgetView;
import dev.parley.protocol.ResultPage;
import dev.parley.task.Submission;
import java.util.List;

/// The route for budgets: what is left of them.
final class BudgetRoutes {

  private final Budgets budgets;

  BudgetRoutes(Budgets budgets) {
    this.budgets = budgets;
  }

  List<Route> routes() {
    return List.of(
        Route.get(
            "/api/budgets",
            "Lists what is used of the caller's budgets; for operators, of all budgets",
            ResponseDescription.page(BudgetView.class),
            this::list));
  }

  private Reply list(Request request) {
    var caller = request.caller();
    var views = caller.operator() ? budgets.all() : budgets.of(Submission.accountOf(caller));
    return new Reply.Json(200, new ResultPage<>(views, null));
  }
}
