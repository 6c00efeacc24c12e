package dev.parley.api.identity;

import dev.parley.api.ApiDependencies;
import dev.parley.http.Reply;
import dev.parley.http.Request;
import dev.parley.http.ResponseDescription;
import dev.parley.http.Route;
import dev.parley.http.Route.Method;
import dev.parley.http.Route.RouteDescription;
import dev.parley.identity.Action;
import dev.parley.identity.ContextShares;
import dev.parley.identity.ContextShares.ContextShare;
import dev.parley.identity.ShareLevel;
import dev.parley.protocol.Identity.NewShare;
import dev.parley.protocol.Identity.ShareView;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.ResultPage;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// `/api/contexts/{c}/shares`: with whom a context is shared. Only its owner may know and change it.
final class ContextShareRoutes {

  private static final String ALL = "/api/contexts/{c}/shares";

  private final ApiDependencies parts;
  private final ContextShares shares;

  ContextShareRoutes(ApiDependencies parts, ContextShares shares) {
    this.parts = parts;
    this.shares = shares;
  }

  List<Route> routes() {
    return List.of(
        Route.get(
                ALL,
                "Lists with whom a context is shared",
                ResponseDescription.page(ShareView.class),
                this::list)
            .doing(Action.OWN),
        Route.withBody(
                Method.POST,
                ALL,
                new RouteDescription(
                    "Shares a context with a person or a group, or by a link",
                    List.of(),
                    NewShare.class,
                    ResponseDescription.one(201, ShareView.class)),
                this::share)
            .doing(Action.OWN),
        Route.withoutBody(
                Method.DELETE,
                ALL + "/{share}",
                "Ends a share, and the streams of those who lose it",
                ResponseDescription.empty(),
                this::end)
            .doing(Action.OWN));
  }

  private Reply list(Request request) {
    var context = parts.access().context(request);
    var found = shares.of(context).stream().map(share -> view(share, null)).toList();
    return new Reply.Json(200, new ResultPage<>(found, null));
  }

  private Reply share(Request request) {
    var context = parts.access().context(request);
    // Sharing passes on what agents have found: a person decides.
    parts.approvals().checkPerson(request);
    var wanted = request.body(NewShare.class);
    var link = Boolean.TRUE.equals(wanted.link()) ? "link" : null;
    if (Stream.of(wanted.person(), wanted.group(), link).filter(Objects::nonNull).count() != 1) {
      throw new Rejection.Invalid("exactly one of person, group and link: true is required");
    }
    var issued =
        shares.share(
            request.caller(),
            new ContextShare(
                "",
                context,
                request.caller().tenant(),
                wanted.person(),
                wanted.group(),
                null,
                level(wanted),
                request.principal(),
                Instant.EPOCH,
                wanted.expiresAt()));
    return new Reply.Json(201, view(issued.share(), issued.secret()));
  }

  private static ShareLevel level(NewShare wanted) {
    var level = wanted.level() == null ? "view" : wanted.level();
    return switch (level) {
      case "view" -> ShareLevel.VIEW;
      case "write" -> {
        if (Boolean.TRUE.equals(wanted.link())) {
          throw new Rejection.Invalid("a link is only for reading: level must be view");
        }
        yield ShareLevel.WRITE;
      }
      default -> throw new Rejection.Invalid("level must be view or write");
    };
  }

  private Reply end(Request request) {
    var context = parts.access().context(request);
    parts.approvals().checkPerson(request);
    shares.end(context, request.path("share"));
    return new Reply.Empty(204);
  }

  private static ShareView view(ContextShare share, @Nullable String secret) {
    return new ShareView(
        share.id(),
        share.context(),
        share.person(),
        share.group(),
        share.hash() != null,
        share.level().wire(),
        share.createdBy(),
        share.createdAt(),
        share.expiresAt(),
        secret);
  }
}
