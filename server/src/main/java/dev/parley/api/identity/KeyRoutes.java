package dev.parley.api.identity;

import dev.parley.http.Reply;
import dev.parley.http.Request;
import dev.parley.http.ResponseDescription;
import dev.parley.http.Route;
import dev.parley.http.Route.Method;
import dev.parley.http.Route.RouteDescription;
import dev.parley.identity.Action;
import dev.parley.identity.ApiKeys;
import dev.parley.identity.ApiKeys.ApiKey;
import dev.parley.identity.Scope;
import dev.parley.protocol.Identity.KeyView;
import dev.parley.protocol.Identity.NewKey;
import dev.parley.protocol.ResultPage;
import java.util.List;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/// `/api/keys`: the API keys of programs.
final class KeyRoutes {

  private static final String ALL = "/api/keys";
  private static final String ONE = ALL + "/{key}";

  private final ApiKeys keys;
  private final Administration administration;

  KeyRoutes(ApiKeys keys, Administration administration) {
    this.keys = keys;
    this.administration = administration;
  }

  List<Route> routes() {
    return List.of(
        Route.get(
                ALL,
                "Lists the caller's API keys, and those of others for an administrator",
                ResponseDescription.page(KeyView.class),
                this::list)
            .doing(Action.NONE),
        Route.withBody(
                Method.POST,
                ALL,
                new RouteDescription(
                    "Creates an API key; only this reply has its secret",
                    List.of(),
                    NewKey.class,
                    ResponseDescription.one(201, KeyView.class)),
                this::create)
            .doing(Action.NONE),
        Route.get(
                ONE,
                "Shows an API key by its id or name",
                ResponseDescription.one(KeyView.class),
                request ->
                    new Reply.Json(
                        200, view(keys.find(request.caller(), request.path("key")), null)))
            .doing(Action.NONE),
        Route.withoutBody(
                Method.DELETE,
                ONE,
                "Revokes an API key and ends its streams",
                ResponseDescription.empty(),
                this::revoke)
            .doing(Action.NONE));
  }

  private Reply list(Request request) {
    var found = keys.visible(request.caller()).stream().map(key -> view(key, null)).toList();
    return new Reply.Json(200, new ResultPage<>(found, null));
  }

  private Reply create(Request request) {
    administration.checkPerson(request);
    var issued = keys.create(request.caller(), request.body(NewKey.class));
    return new Reply.Json(201, view(issued.key(), issued.secret()));
  }

  private Reply revoke(Request request) {
    administration.checkPerson(request);
    keys.revoke(request.caller(), request.path("key"));
    return new Reply.Empty(204);
  }

  private static KeyView view(ApiKey key, @Nullable String secret) {
    return new KeyView(
        key.id(),
        key.name(),
        key.principal(),
        key.tenant(),
        key.scopes().stream().sorted().map(Scope::wire).toList(),
        List.copyOf(new TreeSet<>(key.agents())),
        List.copyOf(new TreeSet<>(key.contexts())),
        key.createdBy(),
        key.createdAt(),
        key.expiresAt(),
        key.lastUsedAt(),
        secret);
  }
}
