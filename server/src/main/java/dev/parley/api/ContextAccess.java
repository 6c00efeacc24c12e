package dev.parley.api;

import dev.parley.audit.AuditEvent;
import dev.parley.audit.AuditTrail;
import dev.parley.http.ApiTokens.ApiToken;
import dev.parley.http.Request;
import dev.parley.http.RequestAudit;
import dev.parley.identity.AccessPolicy;
import dev.parley.identity.AccessPolicy.Decision;
import dev.parley.identity.AccessPolicy.Resource;
import dev.parley.identity.Action;
import dev.parley.identity.Caller;
import dev.parley.identity.CallerKind;
import dev.parley.log.EventLog;
import dev.parley.projection.VisibleContexts;
import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.ContextEvent.ContextCreated;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Rejection;
import dev.parley.task.Submission;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/// Applies the decisions of [AccessPolicy] to requests. Every API uses this class for contexts and
/// agents.
///
/// A context that a caller may not read does not exist for this caller.
public final class ContextAccess {

  private final EventLog log;
  private final AccessPolicy accessPolicy;
  private final AuditTrail audit;
  private final Set<String> noInternal;

  public ContextAccess(
      EventLog log, AccessPolicy accessPolicy, AuditTrail audit, List<ApiToken> tokens) {
    this.log = log;
    this.accessPolicy = accessPolicy;
    this.audit = audit;
    this.noInternal =
        tokens.stream()
            .filter(apiToken -> !apiToken.internal())
            .map(ApiToken::name)
            .collect(Collectors.toUnmodifiableSet());
  }

  /// Rejects a context to which the caller may not do what its request does.
  ///
  /// @throws Rejection.NotFound if the context does not exist for the caller
  /// @throws Rejection.Forbidden if the caller may read it, but not do this
  /// @throws Rejection.Gone if it was deleted
  public void check(Request request, ContextId context) {
    check(request.caller(), request.action(), context);
  }

  /// Rejects a context to which the caller may not do this.
  ///
  /// @throws Rejection.NotFound if the context does not exist for the caller
  /// @throws Rejection.Forbidden if the caller may read it, but not do this
  /// @throws Rejection.Gone if it was deleted
  public void check(Caller caller, Action action, ContextId context) {
    var resource = resource(caller, context);
    switch (accessPolicy.decide(caller, action, resource)) {
      case Decision.Allowed _ -> recordAccess(caller, action, resource);
      case Decision.Hidden _ -> throw unknown(context);
      case Decision.Denied(var code, var reason) -> throw new Rejection.Forbidden(code, reason);
    }
  }

  /// Records that somebody uses the context of somebody else. Contexts of `local` belong to nobody in
  /// particular.
  private void recordAccess(Caller caller, Action action, Resource.OfContext resource) {
    var owner = resource.owner();
    if (!owner.equals(caller.principal()) && !owner.equals(Caller.LOCAL)) {
      audit.recordAccess(
          AuditEvent.done(
                  RequestAudit.actor(caller),
                  action == Action.READ ? "context-read" : "context-used",
                  "context:" + resource.context().value())
              .with("owner", owner));
    }
  }

  private Resource.OfContext resource(Caller caller, ContextId context) {
    try {
      return new Resource.OfContext(context, log.owner(context));
    } catch (Rejection.Gone deleted) {
      // It has no owner any more who could be compared with the caller.
      throw caller.revocable() ? unknown(context) : deleted;
    }
  }

  private static Rejection.NotFound unknown(ContextId context) {
    return new Rejection.NotFound("no such context: " + context);
  }

  /// True if the context exists, and the caller may do to it what its request does.
  ///
  /// @throws Rejection.Forbidden if the caller may read it, but not do this
  /// @throws Rejection.Gone if it was deleted
  public boolean mayUse(Request request, ContextId context) {
    return mayUse(request.caller(), request.action(), context);
  }

  /// True if the context exists, and the caller may do this to it.
  ///
  /// @throws Rejection.Forbidden if the caller may read it, but not do this
  /// @throws Rejection.Gone if it was deleted
  public boolean mayUse(Caller caller, Action action, ContextId context) {
    try {
      check(caller, action, context);
      return true;
    } catch (Rejection.NotFound unknown) {
      return false;
    }
  }

  /// The context that a request's path names, if the caller may do to it what the request does.
  public ContextId context(Request request) {
    var context = request.context();
    check(request, context);
    return context;
  }

  /// Creates a context with this id, unless the caller has one. True if it was created.
  ///
  /// @throws Rejection.NotFound if somebody else has a context with this id
  /// @throws Rejection.Forbidden if the caller may not choose this id
  /// @throws Rejection.Gone if it was deleted
  public boolean create(Caller caller, ContextId context, ContextCreated created) {
    if (mayUse(caller, Action.WRITE, context)) {
      return false;
    }
    checkNew(caller, context);
    if (log.create(context, created)) {
      return true;
    }
    check(caller, Action.WRITE, context);
    return false;
  }

  /// Rejects an id that the caller may not choose for a new context.
  ///
  /// @throws Rejection.Forbidden if it may not
  public void checkNew(Caller caller, ContextId context) {
    switch (accessPolicy.decide(caller, Action.WRITE, new Resource.OfNewContext(context))) {
      case Decision.Allowed _ -> {}
      case Decision.Hidden _ -> throw unknown(context);
      case Decision.Denied(var code, var reason) -> throw new Rejection.Forbidden(code, reason);
    }
  }

  /// Rejects an agent that the caller may not use.
  ///
  /// @throws Rejection.Forbidden if it may not
  public void checkAgent(Caller caller, AgentTypeId agent) {
    if (accessPolicy.decide(caller, Action.WRITE, new Resource.OfAgent(agent.value()))
        instanceof Decision.Denied(var code, var reason)) {
      throw new Rejection.Forbidden(code, reason);
    }
  }

  /// Rejects a message for an agent that the caller may not use. A caller that is limited to some
  /// agents has to name one.
  ///
  /// @throws Rejection.Forbidden if it may not
  public void checkAgent(Caller caller, Submission submission) {
    var agent = submission.options().agentId();
    if (agent != null) {
      checkAgent(caller, agent);
    } else if (!caller.grant().agents().isEmpty()) {
      throw new Rejection.Forbidden(
          "agent-not-allowed",
          "this credential may use only some agents: name one with agentId: "
              + String.join(", ", new TreeSet<>(caller.grant().agents())));
    }
  }

  /// True if the caller may read internal events.
  public boolean mayReadInternal(Caller caller) {
    return caller.kind() != CallerKind.LINK && !noInternal.contains(caller.principal());
  }

  /// Rejects a caller that may not read internal events.
  ///
  /// @throws Rejection.Forbidden if it may not
  public void checkInternal(Caller caller) {
    if (!mayReadInternal(caller)) {
      throw new Rejection.Forbidden(
          "internal-forbidden", "this token may not read internal events (auth.tokens[].internal)");
    }
  }

  /// The contexts that lists, feeds and counts show to the caller.
  public VisibleContexts visible(Caller caller) {
    return accessPolicy.visible(caller);
  }
}
