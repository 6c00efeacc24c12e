package dev.parley.server;

import dev.parley.control.Budgets;
import dev.parley.http.Reply;
import dev.parley.http.Request;
import dev.parley.http.Route;
import dev.parley.identity.Action;
import dev.parley.identity.CallerKind;
import dev.parley.protocol.BudgetView.BudgetResource;
import dev.parley.task.Submission;
import java.util.List;

/// Counts requests and streams, and rejects those for which a budget is used up.
final class BudgetedRoutes {

  private BudgetedRoutes() {}

  /// The same routes; public ones and those for operators are not counted.
  static List<Route> of(List<Route> routes, Budgets budgets) {
    return budgets.active()
        ? routes.stream().map(route -> budgeted(route, budgets)).toList()
        : List.copyOf(routes);
  }

  private static Route budgeted(Route route, Budgets budgets) {
    if (route.action() == Action.NONE || route.action() == Action.OPERATE) {
      return route;
    }
    return new Route(
        route.method(),
        route.path(),
        route.description(),
        route.action(),
        request -> handle(route, request, budgets));
  }

  private static Reply handle(Route route, Request request, Budgets budgets) {
    var caller = request.caller();
    if (caller.kind() == CallerKind.ANONYMOUS) {
      return route.handler().handle(request);
    }
    var account = Submission.accountOf(caller);
    budgets.use(account, BudgetResource.REQUESTS);
    var answer = route.description().answer();
    var streams = answer.status() == 101 || answer.contentType().equals("text/event-stream");
    if (streams) {
      budgets.use(account, BudgetResource.STREAMS);
    }
    var reply = route.handler().handle(request);
    if (reply instanceof Reply.Stream && !streams) {
      // The request has begun its work, so its stream is not rejected.
      budgets.count(account, BudgetResource.STREAMS);
    }
    return reply;
  }
}
