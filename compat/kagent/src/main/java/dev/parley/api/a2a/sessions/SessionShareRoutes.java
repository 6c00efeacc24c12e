package dev.parley.api.a2a.sessions;

import dev.parley.api.ApiDependencies;
import dev.parley.http.Reply;
import dev.parley.http.Request;
import dev.parley.http.Route;
import dev.parley.identity.Action;
import dev.parley.log.EventDraft;
import dev.parley.protocol.ContextEvent.ContextUpdated;
import dev.parley.protocol.ContextView;
import dev.parley.protocol.Json;
import dev.parley.protocol.Rejection;
import java.util.List;
import java.util.function.UnaryOperator;

/// Routes that share a session read-only.
final class SessionShareRoutes {

  private static final String ALL = SessionRoutes.ONE + "/shares";

  private final ApiDependencies parts;
  private final SessionAccess sessionAccess;

  SessionShareRoutes(ApiDependencies parts, SessionAccess sessionAccess) {
    this.parts = parts;
    this.sessionAccess = sessionAccess;
  }

  List<Route> routes() {
    return List.of(
        SessionEnvelope.route(
                Route.Method.POST, ALL, "Shares a session for reading", null, this::share)
            .doing(Action.OWN),
        SessionEnvelope.route(
            Route.Method.GET, ALL, "Lists the shares of a session", null, this::list),
        SessionEnvelope.route(
                Route.Method.DELETE,
                ALL + "/{share}",
                "Revokes a share of a session",
                null,
                this::revoke)
            .doing(Action.OWN));
  }

  private Reply share(Request request) {
    var context = sessionAccess.session(request);
    // This token grants read access: it is returned once and stored only as a hash.
    var token = parts.ids().get() + "-" + parts.ids().get();
    var id = parts.ids().get().toString();
    var share =
        SessionShares.SessionShare.of(id, context.contextId(), token, parts.time().instant());
    change(request, context, sessionShares -> sessionShares.with(share));
    var data = Json.object().put("id", share.id()).put("token", token);
    data.put("session_id", context.contextId().value()).put("created_at", share.created_at());
    return SessionEnvelope.of(201, data.put("read_only", true), "Session shared");
  }

  private Reply list(Request request) {
    var shares = SessionShares.of(sessionAccess.session(request)).all();
    var data =
        shares.stream()
            .map(one -> Json.object().put("id", one.id()).put("created_at", one.created_at()))
            .toList();
    return SessionEnvelope.of(200, data, "Successfully listed shares");
  }

  private Reply revoke(Request request) {
    var context = sessionAccess.session(request);
    var id = request.path("share");
    if (SessionShares.of(context).all().stream().noneMatch(share -> share.id().equals(id))) {
      throw new Rejection.NotFound("no such share");
    }
    change(request, context, sessionShares -> sessionShares.without(id));
    return SessionEnvelope.done("Share revoked");
  }

  private void change(Request request, ContextView shared, UnaryOperator<SessionShares> change) {
    parts
        .contextEditor()
        .change(
            shared.contextId(),
            context -> {
              var sessionShares = change.apply(SessionShares.of(context));
              if (sessionShares.all().size() > SessionShares.SHARES_MAX) {
                throw new Rejection.Conflict(
                    "busy",
                    "a session has at most " + SessionShares.SHARES_MAX + " shares; revoke some");
              }
              var metadata = sessionShares.metadata(context);
              return List.of(
                  EventDraft.of(new ContextUpdated(null, metadata, request.principal())));
            });
  }
}
