package dev.parley.door;

import dev.parley.door.Tokens.Token;
import dev.parley.log.EventLog;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Rejection;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/// Decides who may see a context. Every door asks here and nowhere else.
///
/// A context belongs to whoever made it. Those made while no tokens were configured belong to everyone.
public final class Access {

  private final EventLog log;
  private final Set<String> noInternal;

  public Access(EventLog log, List<Token> tokens) {
    this.log = log;
    this.noInternal =
        tokens.stream()
            .filter(token -> !token.internal())
            .map(Token::name)
            .collect(Collectors.toUnmodifiableSet());
  }

  /// Refuses a context that the principal may not see, as if there were none.
  ///
  /// @throws Rejection.NotFound also if there is none
  /// @throws Rejection.Gone if it was deleted
  public void check(String principal, ContextId context) {
    if (!owners(principal).contains(log.owner(context))) {
      throw new Rejection.NotFound("no such context: " + context);
    }
  }

  /// True if there is such a context and the principal may see it.
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

  /// Refuses a principal that may not read internal events.
  ///
  /// @throws Rejection.Forbidden if so
  public void checkInternal(String principal) {
    if (!mayReadInternal(principal)) {
      throw new Rejection.Forbidden(
          "internal-forbidden", "this token may not read internal events (auth.tokens[].internal)");
    }
  }

  /// Whose contexts the principal may see.
  public Set<String> owners(String principal) {
    return principal.equals(Tokens.LOCAL) ? Set.of(Tokens.LOCAL) : Set.of(principal, Tokens.LOCAL);
  }
}
