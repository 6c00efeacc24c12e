package dev.parley.api.controls;

import dev.parley.control.ApprovalRules;
import dev.parley.http.Reply;
import dev.parley.http.Request;
import dev.parley.http.ResponseDescription;
import dev.parley.http.Route;
import dev.parley.identity.Action;
import dev.parley.identity.Caller;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.ResultPage;
import dev.parley.protocol.RuleView;
import dev.parley.runtime.Time;
import java.lang.System.Logger.Level;
import java.util.List;

/// Routes that list and revoke the rules of "always allow". People see their own rules, operators
/// see all.
final class RuleRoutes {

  private static final System.Logger LOG = System.getLogger(RuleRoutes.class.getName());

  private final ApprovalRules rules;
  private final Time time;

  RuleRoutes(ApprovalRules rules, Time time) {
    this.rules = rules;
    this.time = time;
  }

  List<Route> routes() {
    return List.of(
        Route.get(
            "/api/rules",
            "Lists the rules that allow tool calls without approval, oldest first",
            ResponseDescription.page(RuleView.class),
            request -> new Reply.Json(200, new ResultPage<>(visible(request.caller()), null))),
        Route.withoutBody(
                Route.Method.DELETE,
                "/api/rules/{id}",
                "Revokes a rule: its calls need approval again",
                ResponseDescription.one(RuleView.class),
                this::revoke)
            .doing(Action.ANSWER));
  }

  private List<RuleView> visible(Caller caller) {
    return rules.active(time.instant()).stream()
        .filter(rule -> caller.operator() || rule.owner().equals(caller.principal()))
        .toList();
  }

  private Reply revoke(Request request) {
    var rule =
        visible(request.caller()).stream()
            .filter(other -> other.id().equals(request.path("id")))
            .findFirst()
            .orElseThrow(() -> new Rejection.NotFound("no such rule: " + request.path("id")));
    rules.revoke(rule);
    LOG.log(Level.INFO, "rule {0} was revoked by {1}", rule.id(), request.principal());
    return new Reply.Json(200, rule);
  }
}
