package dev.parley.api.identity;

import dev.parley.api.ApprovalPolicy;
import dev.parley.http.Request;
import dev.parley.identity.AccessPolicy;
import dev.parley.identity.AccessPolicy.Decision;
import dev.parley.identity.AccessPolicy.Resource;
import dev.parley.identity.Action;
import dev.parley.identity.Caller;
import dev.parley.identity.Role;
import dev.parley.identity.Scope;
import dev.parley.protocol.Rejection;
import java.util.Collection;

/// Checks requests that administer a tenant.
final class Administration {

  private final ApprovalPolicy approvals;
  private final AccessPolicy accessPolicy;

  Administration(ApprovalPolicy approvals, AccessPolicy accessPolicy) {
    this.approvals = approvals;
    this.accessPolicy = accessPolicy;
  }

  /// Rejects a request that comes from a process of an agent: an agent must not give itself, or its
  /// friends, a credential.
  void checkPerson(Request request) {
    approvals.checkPerson(request);
  }

  /// The tenant that a request administers: the one that it names, or that of the caller.
  ///
  /// @throws Rejection.Forbidden if the caller administers nothing
  /// @throws Rejection.NotFound if it is another tenant than the caller's
  String tenant(Request request) {
    return tenant(request.caller(), request.query("tenant").orElse(request.caller().tenant()));
  }

  String tenant(Caller caller, String tenant) {
    return switch (accessPolicy.decide(caller, Action.ADMINISTER, new Resource.OfTenant(tenant))) {
      case Decision.Allowed _ -> tenant;
      case Decision.Hidden _ -> throw new Rejection.NotFound("no such tenant: " + tenant);
      case Decision.Denied(var code, var reason) -> throw new Rejection.Forbidden(code, reason);
    };
  }

  /// Rejects roles that the caller may not give to others.
  static void checkMayGive(Caller caller, Collection<Role> roles) {
    if (roles.contains(Role.OPERATOR) && !caller.operator()) {
      throw new Rejection.Forbidden("operator-required", "only operators name other operators");
    }
    if (!caller.has(Scope.ADMINISTER)) {
      throw new Rejection.Forbidden("scope-missing", "only administrators give roles");
    }
  }
}
