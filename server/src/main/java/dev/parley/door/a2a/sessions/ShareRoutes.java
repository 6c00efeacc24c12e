package dev.parley.door.a2a.sessions;

import dev.parley.door.DoorParts;
import dev.parley.door.Reply;
import dev.parley.door.Request;
import dev.parley.door.Route;
import dev.parley.log.Draft;
import dev.parley.protocol.ContextEvent.ContextUpdated;
import dev.parley.protocol.Json;
import dev.parley.protocol.Rejection;
import dev.parley.view.ContextView;
import java.util.List;
import java.util.function.UnaryOperator;

/// Routes that share a session read-only.
final class ShareRoutes {

  private static final String ALL = SessionRoutes.ONE + "/shares";

  private final DoorParts parts;
  private final Callers callers;

  ShareRoutes(DoorParts parts, Callers callers) {
    this.parts = parts;
    this.callers = callers;
  }

  List<Route> routes() {
    return List.of(
        SessionsDoor.act(Route.Method.POST, ALL, "Shares a session for reading", this::share),
        SessionsDoor.act(Route.Method.GET, ALL, "Lists the shares of a session", this::list),
        SessionsDoor.act(
            Route.Method.DELETE, ALL + "/{share}", "Revokes a share of a session", this::revoke));
  }

  private Reply share(Request request) {
    var context = callers.session(request);
    // This token grants read access: it is returned once and stored only as a hash.
    var token = parts.ids().get() + "-" + parts.ids().get();
    var id = parts.ids().get().toString();
    var share = Shares.Share.of(id, context.contextId(), token, parts.clock().instant());
    change(request, context, shares -> shares.with(share));
    var data = Json.object().put("id", share.id()).put("token", token);
    data.put("session_id", context.contextId().value()).put("created_at", share.created_at());
    return Envelope.of(201, data.put("read_only", true), "Session shared");
  }

  private Reply list(Request request) {
    var shares = Shares.of(callers.session(request)).all();
    var data =
        shares.stream()
            .map(one -> Json.object().put("id", one.id()).put("created_at", one.created_at()))
            .toList();
    return Envelope.of(200, data, "Successfully listed shares");
  }

  private Reply revoke(Request request) {
    var context = callers.session(request);
    var id = request.path("share");
    if (Shares.of(context).all().stream().noneMatch(share -> share.id().equals(id))) {
      throw new Rejection.NotFound("no such share");
    }
    change(request, context, shares -> shares.without(id));
    return Envelope.done("Share revoked");
  }

  private void change(Request request, ContextView shared, UnaryOperator<Shares> change) {
    parts
        .descriptions()
        .change(
            shared.contextId(),
            context -> {
              var shares = change.apply(Shares.of(context));
              if (shares.all().size() > Shares.MAX) {
                throw new Rejection.Conflict(
                    "busy", "a session has at most " + Shares.MAX + " shares; revoke some");
              }
              var metadata = shares.metadata(context);
              return List.of(Draft.of(new ContextUpdated(null, metadata, request.principal())));
            });
  }
}
