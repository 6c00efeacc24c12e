package dev.parley.identity;

import dev.parley.projection.VisibleContexts;
import dev.parley.protocol.ContextId;
import java.util.Set;
import java.util.regex.Pattern;

/// Decides what each caller may do. Every API asks this class, directly or through `ContextAccess`.
///
/// It answers from memory. A context that a caller may not read does not exist for this caller.
public final class AccessPolicy {

  /// A random id cannot be guessed, so a rejected one reveals nothing about a context.
  private static final Pattern RANDOM =
      Pattern.compile("[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}");

  /// What a request is about.
  public sealed interface Resource {

    /// The server itself, or nothing in particular.
    record OfServer() implements Resource {}

    /// A context that exists, and its owner.
    record OfContext(ContextId context, String owner) implements Resource {}

    /// A context that does not exist, with the id that the caller has chosen for it.
    record OfNewContext(ContextId context) implements Resource {}

    /// An agent that a message is for.
    record OfAgent(String agent) implements Resource {}

    /// The people, groups and keys of a tenant.
    record OfTenant(String tenant) implements Resource {}
  }

  /// The answer of the policy.
  public sealed interface Decision {

    /// The caller may do it.
    record Allowed() implements Decision {}

    /// The resource does not exist for the caller.
    record Hidden() implements Decision {}

    /// The caller may know of the resource, but may not do this.
    record Denied(String code, String reason) implements Decision {}
  }

  private static final Decision ALLOWED = new Decision.Allowed();
  private static final Decision HIDDEN = new Decision.Hidden();

  private final SharedContexts sharedContexts;

  public AccessPolicy(SharedContexts sharedContexts) {
    this.sharedContexts = sharedContexts;
  }

  /// Decides whether the caller may do this to the resource.
  public Decision decide(Caller caller, Action action, Resource resource) {
    return switch (resource) {
      case Resource.OfServer _ -> ofScope(caller, action);
      case Resource.OfContext(var context, var owner) -> ofContext(caller, action, context, owner);
      case Resource.OfNewContext(var context) -> ofNewContext(caller, context);
      case Resource.OfAgent(var agent) -> ofAgent(caller, agent);
      case Resource.OfTenant(var tenant) ->
          tenant.equals(caller.tenant()) || caller.operator() ? ofScope(caller, action) : HIDDEN;
    };
  }

  private static Decision ofScope(Caller caller, Action action) {
    return switch (action) {
      case NONE -> ALLOWED;
      case READ -> need(caller, Scope.READ);
      case WRITE, OWN -> need(caller, Scope.WRITE);
      case ANSWER -> caller.has(Scope.APPROVE) ? ALLOWED : need(caller, Scope.WRITE);
      case ADMINISTER ->
          caller.has(Scope.ADMINISTER) && (caller.is(Role.OWNER) || caller.is(Role.OPERATOR))
              ? ALLOWED
              : denied(Scope.ADMINISTER);
      case OPERATE ->
          caller.operator()
              ? ALLOWED
              : new Decision.Denied(
                  "operator-required", "only operators of the server may do this");
    };
  }

  private static Decision need(Caller caller, Scope scope) {
    return caller.has(scope) ? ALLOWED : denied(scope);
  }

  private static Decision denied(Scope scope) {
    return new Decision.Denied(
        "scope-missing",
        "this credential does not permit it: the scope " + scope.wire() + " is missing");
  }

  private Decision ofContext(Caller caller, Action action, ContextId context, String owner) {
    var limits = caller.grant().contexts();
    if (!limits.isEmpty() && !limits.contains(context.value())) {
      return HIDDEN;
    }
    if (caller.kind() == CallerKind.LINK) {
      return action == Action.READ ? ALLOWED : readOnly();
    }
    if (owners(caller).contains(owner)) {
      return ofScope(caller, action);
    }
    var level = sharedContexts.level(caller, context);
    return level.isEmpty() ? HIDDEN : ofShared(caller, action, level.get());
  }

  private static Decision ofShared(Caller caller, Action action, ShareLevel level) {
    var permitted =
        switch (action) {
          case NONE, READ -> true;
          case WRITE -> level == ShareLevel.WRITE;
          case ANSWER -> level == ShareLevel.WRITE || caller.is(Role.APPROVER);
          case OWN, ADMINISTER, OPERATE -> false;
        };
    return permitted ? ofScope(caller, action) : readOnly();
  }

  private static Decision readOnly() {
    return new Decision.Denied(
        "context-shared", "this context is shared with you, but not for this");
  }

  /// A caller that could choose any id would learn which ids others use: the server has to reject
  /// these.
  private static Decision ofNewContext(Caller caller, ContextId context) {
    var scope = ofScope(caller, Action.WRITE);
    if (!(scope instanceof Decision.Allowed)) {
      return scope;
    }
    if (!caller.grant().contexts().isEmpty()) {
      return caller.grant().contexts().contains(context.value()) ? ALLOWED : HIDDEN;
    }
    var id = context.value();
    return !caller.revocable()
            || RANDOM.matcher(id).matches()
            || id.startsWith(caller.principal() + ".")
        ? ALLOWED
        : new Decision.Denied(
            "id-not-allowed",
            "choose a random UUID, or an id that begins with %s.".formatted(caller.principal()));
  }

  private static Decision ofAgent(Caller caller, String agent) {
    var agents = caller.grant().agents();
    return agents.isEmpty() || agents.contains(agent)
        ? ALLOWED
        : new Decision.Denied(
            "agent-not-allowed", "this credential may not use the agent " + agent);
  }

  /// The contexts that lists, feeds and counts show to the caller.
  public VisibleContexts visible(Caller caller) {
    var limits = caller.grant().contexts();
    var only = limits.isEmpty() ? null : limits;
    if (!caller.has(Scope.READ)) {
      return VisibleContexts.NOTHING;
    }
    return caller.kind() == CallerKind.LINK
        ? new VisibleContexts(false, Set.of(), limits, only)
        : new VisibleContexts(false, owners(caller), sharedContexts.ids(caller), only);
  }

  /// The owners whose contexts the caller may use as its own. Contexts that were created while no
  /// credential was required belong to every token of the configuration.
  private static Set<String> owners(Caller caller) {
    return switch (caller.kind()) {
      case LOCAL, KEY, PERSON -> Set.of(caller.principal());
      case TOKEN -> Set.of(caller.principal(), Caller.LOCAL);
      case ANONYMOUS, LINK -> Set.of();
    };
  }
}
