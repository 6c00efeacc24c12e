package dev.parley.api.identity;

import dev.parley.http.Reply;
import dev.parley.http.Request;
import dev.parley.http.ResponseDescription;
import dev.parley.http.Route;
import dev.parley.http.Route.Method;
import dev.parley.http.Route.RouteDescription;
import dev.parley.identity.Action;
import dev.parley.identity.CallerKind;
import dev.parley.identity.Identities;
import dev.parley.identity.Role;
import dev.parley.identity.Scope;
import dev.parley.identity.Tickets.IssuedTicket;
import dev.parley.protocol.Identity.CallerView;
import dev.parley.protocol.Identity.SignInView;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.ResultPage;
import java.util.List;
import java.util.Locale;
import java.util.TreeSet;

/// `/api/me`: who the caller is, and its sign-ins. `/api/tickets`: tickets of the caller.
final class PersonRoutes {

  private static final String SIGN_INS = "/api/me/sessions";

  /// The path that a ticket is for, with or without a query.
  record NewTicket(String path) {}

  private final Identities identities;

  PersonRoutes(Identities identities) {
    this.identities = identities;
  }

  List<Route> routes() {
    return List.of(
        Route.get(
                "/api/me",
                "Shows who the caller is, and what the credential permits",
                ResponseDescription.one(CallerView.class),
                PersonRoutes::me)
            .doing(Action.NONE),
        Route.get(
                SIGN_INS,
                "Lists the sign-ins of the person who asks",
                ResponseDescription.page(SignInView.class),
                this::signIns)
            .doing(Action.NONE),
        Route.withoutBody(
                Method.DELETE,
                SIGN_INS + "/{session}",
                "Ends a sign-in of the person who asks, and its streams",
                ResponseDescription.empty(),
                this::end)
            .doing(Action.NONE),
        Route.withBody(
                Method.POST,
                "/api/tickets",
                new RouteDescription(
                    "Issues a ticket, with which a URL can be read for a minute without headers",
                    List.of(),
                    NewTicket.class,
                    ResponseDescription.one(201, IssuedTicket.class)),
                this::ticket)
            .doing(Action.READ));
  }

  private static Reply me(Request request) {
    var caller = request.caller();
    return new Reply.Json(
        200,
        new CallerView(
            caller.principal(),
            caller.kind().name().toLowerCase(Locale.ROOT),
            caller.tenant(),
            List.copyOf(new TreeSet<>(caller.groups())),
            caller.roles().stream().sorted().map(Role::wire).toList(),
            caller.grant().scopes().stream().sorted().map(Scope::wire).toList()));
  }

  private Reply signIns(Request request) {
    var caller = request.caller();
    var found =
        caller.kind() != CallerKind.PERSON
            ? List.<SignInView>of()
            : identities.signIns().of(caller.principal()).stream()
                .map(
                    one ->
                        new SignInView(
                            one.id(),
                            one.method(),
                            one.address(),
                            one.createdAt(),
                            one.expiresAt(),
                            caller.credential().endsWith(":" + one.id())))
                .toList();
    return new Reply.Json(200, new ResultPage<>(found, null));
  }

  private Reply end(Request request) {
    var id = request.path("session");
    if (request.caller().kind() != CallerKind.PERSON) {
      throw new Rejection.NotFound("no such sign-in: " + id);
    }
    identities.signIns().end(request.principal(), id);
    return new Reply.Empty(204);
  }

  private Reply ticket(Request request) {
    return new Reply.Json(
        201, identities.tickets().issue(request.caller(), request.body(NewTicket.class).path()));
  }
}
