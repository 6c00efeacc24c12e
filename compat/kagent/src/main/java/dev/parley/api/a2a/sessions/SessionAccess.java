package dev.parley.api.a2a.sessions;

import dev.parley.api.ApiDependencies;
import dev.parley.http.ApiTokens;
import dev.parley.http.Parameter;
import dev.parley.http.Request;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.ContextView;
import dev.parley.protocol.Id;
import dev.parley.protocol.Rejection;
import java.util.Optional;

/// Identifies the calling user and checks access to sessions.
///
/// If tokens are configured, the token identifies the user. If not, a caller may name a user, and
/// then sees that user's sessions and those without a user.
final class SessionAccess {

  /// The query parameter that names the user.
  static final Parameter USER =
      Parameter.query("user_id", "the calling user, if no tokens are configured");

  /// The header that names the user.
  static final Parameter USER_HEADER =
      Parameter.header("X-User-ID", "the calling user, if no tokens are configured");

  private static final int USER_MAX = 256;

  private final ApiDependencies parts;

  SessionAccess(ApiDependencies parts) {
    this.parts = parts;
  }

  /// The user that a caller without a token names.
  static Optional<String> user(Request request) {
    if (!request.principal().equals(ApiTokens.LOCAL)) {
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
      parts.access().check(request, context);
    } catch (Rejection.NotFound unknown) {
      throw notFound(context);
    }
    var view = parts.views().context(context);
    var owner = KagentSession.metadataField(view, "userId");
    if (owner != null && user(request).filter(user -> !user.equals(owner)).isPresent()) {
      throw notFound(context);
    }
    return view;
  }

  /// The session that the path names, also for callers with a share token.
  ReadableSession readable(Request request) {
    return readable(request, id(request.path("c")));
  }

  ReadableSession readable(Request request, ContextId context) {
    try {
      return new ReadableSession(session(request, context), false);
    } catch (Rejection.NotFound notTheirs) {
      var token = request.header(SessionShares.TOKEN);
      if (token.isPresent() && exists(context)) {
        var view = parts.views().context(context);
        if (SessionShares.of(view).accepts(context, token.get())) {
          return new ReadableSession(view, true);
        }
      }
      throw notTheirs;
    }
  }

  /// A session that the caller may read, and whether access is read-only.
  record ReadableSession(ContextView context, boolean readOnly) {}

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

  private static Rejection notFound(ContextId context) {
    return new Rejection.NotFound("no such session: " + context);
  }
}
