package dev.parley.api;

import dev.parley.http.ApiTokens;
import dev.parley.http.ApiTokens.ApiToken;
import dev.parley.http.Request;
import dev.parley.log.EventLog;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Rejection;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/// Decides which callers may see a context. Every API uses this class for that decision.
///
/// A context belongs to the principal that created it. Contexts that were created while no tokens
/// were configured belong to every caller.
public final class ContextAccess {

  private final EventLog log;
  private final Set<String> noInternal;

  public ContextAccess(EventLog log, List<ApiToken> tokens) {
    this.log = log;
    this.noInternal =
        tokens.stream()
            .filter(apiToken -> !apiToken.internal())
            .map(ApiToken::name)
            .collect(Collectors.toUnmodifiableSet());
  }

  /// Rejects a context that the principal may not see, as if it did not exist.
  ///
  /// @throws Rejection.NotFound also if the context does not exist
  /// @throws Rejection.Gone if it was deleted
  public void check(String principal, ContextId context) {
    if (!owners(principal).contains(log.owner(context))) {
      throw new Rejection.NotFound("no such context: " + context);
    }
  }

  /// True if the context exists and the principal may see it.
  ///
  /// @throws Rejection.Gone if it was deleted
  public boolean mayUse(String principal, ContextId context) {
    try {
      check(principal, context);
      return true;
    } catch (Rejection.NotFound unknown) {
      return false;
    }
  }

  /// The context that a request's path names, if the caller may see it.
  public ContextId context(Request request) {
    var context = request.context();
    check(request.principal(), context);
    return context;
  }

  /// True if the principal may read internal events.
  public boolean mayReadInternal(String principal) {
    return !noInternal.contains(principal);
  }

  /// Rejects a principal that may not read internal events.
  ///
  /// @throws Rejection.Forbidden if it may not
  public void checkInternal(String principal) {
    if (!mayReadInternal(principal)) {
      throw new Rejection.Forbidden(
          "internal-forbidden", "this token may not read internal events (auth.tokens[].internal)");
    }
  }

  /// The owners whose contexts the principal may see.
  public Set<String> owners(String principal) {
    return principal.equals(ApiTokens.LOCAL)
        ? Set.of(ApiTokens.LOCAL)
        : Set.of(principal, ApiTokens.LOCAL);
  }
}
