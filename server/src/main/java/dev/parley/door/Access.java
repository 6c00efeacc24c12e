package dev.parley.door;

import dev.parley.log.EventLog;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Rejection;
import java.util.Set;

/// Decides who may see a context. Every door asks here and nowhere else.
///
/// A context belongs to whoever made it. Those made while no tokens were configured belong to everyone.
public final class Access {

  private final EventLog log;

  public Access(EventLog log) {
    this.log = log;
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

  /// Whose contexts the principal may see.
  public Set<String> owners(String principal) {
    return principal.equals(Tokens.LOCAL) ? Set.of(Tokens.LOCAL) : Set.of(principal, Tokens.LOCAL);
  }
}
