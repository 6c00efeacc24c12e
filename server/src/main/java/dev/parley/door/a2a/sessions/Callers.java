package dev.parley.door.a2a.sessions;

import dev.parley.door.DoorParts;
import dev.parley.door.Parameter;
import dev.parley.door.Request;
import dev.parley.door.Tokens;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Id;
import dev.parley.protocol.Rejection;
import dev.parley.view.ContextView;
import java.util.Optional;

/// Identifies the calling user and checks access to sessions.
///
/// If tokens are configured, the token identifies the user. If not, a caller may name a user, and
/// then sees that user's sessions and those without a user.
final class Callers {

  /// The query parameter that names the user.
  static final Parameter USER =
      Parameter.query("user_id", "the calling user, if no tokens are configured");

  /// The header that names the user.
  static final Parameter USER_HEADER =
      Parameter.header("X-User-ID", "the calling user, if no tokens are configured");

  private static final int USER_MAX = 256;

  private final DoorParts parts;

  Callers(DoorParts parts) {
    this.parts = parts;
  }

  /// The user that a caller without a token names.
  static Optional<String> user(Request request) {
    if (!request.principal().equals(Tokens.LOCAL)) {
      return Optional.empty();
    }
    var user =
        request.query("user_id").or(() -> request.header("X-User-ID")).filter(u -> !u.isBlank());
    if (user.filter(u -> u.length() > USER_MAX).isPresent()) {
      throw new Rejection.Invalid("a user_id has at most " + USER_MAX + " characters");
    }
    return user;
  }

  /// The session that the path names with `{c}`.
  ///
  /// @throws Rejection.NotFound if it does not exist or the caller may not see it
  ContextView session(Request request) {
    return session(request, id(request.path("c")));
  }

  ContextView session(Request request, ContextId context) {
    try {
      parts.access().check(request.principal(), context);
    } catch (Rejection.NotFound unknown) {
      throw unknown(context);
    }
    var view = parts.views().context(context);
    var owner = Session.own(view, "userId");
    if (owner != null && user(request).filter(user -> !user.equals(owner)).isPresent()) {
      throw unknown(context);
    }
    return view;
  }

  /// The session that the path names, also for callers with a share token.
  Shown readable(Request request) {
    return readable(request, id(request.path("c")));
  }

  Shown readable(Request request, ContextId context) {
    try {
      return new Shown(session(request, context), false);
    } catch (Rejection.NotFound notTheirs) {
      var token = request.header(Shares.TOKEN);
      if (token.isPresent() && exists(context)) {
        var view = parts.views().context(context);
        if (Shares.of(view).opens(context, token.get())) {
          return new Shown(view, true);
        }
      }
      throw notTheirs;
    }
  }

  /// A session that the caller may read, and whether access is read-only.
  record Shown(ContextView context, boolean readOnly) {}

  private boolean exists(ContextId context) {
    try {
      return !parts.log().owner(context).isEmpty();
    } catch (Rejection.NotFound | Rejection.Gone none) {
      return false;
    }
  }

  private static ContextId id(String text) {
    if (!Id.valid(text)) {
      throw new Rejection.NotFound("no such session");
    }
    return new ContextId(text);
  }

  private static Rejection unknown(ContextId context) {
    return new Rejection.NotFound("no such session: " + context);
  }
}
